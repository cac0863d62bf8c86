INSERT INTO chat_leases VALUES ('ses_1', 'lea_1', 'elsewhere', 1, '5', 1000);
