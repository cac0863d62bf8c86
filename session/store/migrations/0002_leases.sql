-- Which process drives a session. A row whose process has ended is void.

CREATE TABLE chat_leases (
	session_id TEXT PRIMARY KEY NOT NULL REFERENCES chat_sessions (id) ON DELETE CASCADE,
	token      TEXT NOT NULL,    -- of this lease alone
	space      TEXT NOT NULL,    -- within which pid means something: machine, start of it, pid namespace
	pid        INTEGER NOT NULL,
	started    TEXT NOT NULL,    -- tells the process from a later one with the same pid; may be empty
	taken      INTEGER NOT NULL
) WITHOUT ROWID;
