INSERT INTO chat_sessions VALUES
	('ses_1', NULL, '/w', '/w', 'title', 'default', 'a/b', 'null', 'null', 1000, 2000),
	('ses_2', 'ses_1', '/w', '/w', '', 'plan', '', '["/x"]', '{"thought_level":"high"}', 1000, 2000);
INSERT INTO chat_messages VALUES (7, 'ses_1', 'msg_1', 'user', 1500);
INSERT INTO chat_parts VALUES (9, 7, 'prt_1', 'text', '{"text":"kept"}');
