-- Times are nanoseconds since 1970, UTC. Lists and maps are JSON.

CREATE TABLE chat_sessions (
	id        TEXT PRIMARY KEY NOT NULL,
	parent_id TEXT REFERENCES chat_sessions (id) ON DELETE CASCADE, -- null: not a sub-session
	dir       TEXT NOT NULL,    -- as the client spells it
	dir_key   TEXT NOT NULL,    -- with links resolved
	title     TEXT NOT NULL,
	mode      TEXT NOT NULL,
	model     TEXT NOT NULL,
	roots     TEXT NOT NULL,    -- list
	options   TEXT NOT NULL,    -- map
	created   INTEGER NOT NULL,
	updated   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX chat_sessions_newest ON chat_sessions (updated, id) WHERE parent_id IS NULL;
CREATE INDEX chat_sessions_parent ON chat_sessions (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE chat_messages (
	seq        INTEGER PRIMARY KEY, -- the order of a session's messages
	session_id TEXT NOT NULL REFERENCES chat_sessions (id) ON DELETE CASCADE,
	id         TEXT NOT NULL,
	role       TEXT NOT NULL,
	created    INTEGER NOT NULL,
	UNIQUE (session_id, id)
);

CREATE TRIGGER chat_messages_append_only BEFORE UPDATE ON chat_messages
BEGIN
	SELECT RAISE (ABORT, 'messages are append-only');
END;

CREATE TABLE chat_parts (
	seq     INTEGER PRIMARY KEY, -- the order of a message's parts
	message INTEGER NOT NULL REFERENCES chat_messages (seq) ON DELETE CASCADE,
	id      TEXT NOT NULL,
	type    TEXT NOT NULL,
	data    TEXT NOT NULL,       -- JSON
	UNIQUE (message, id)
);
