CREATE TABLE events (
        seq     INTEGER PRIMARY KEY,
        now     INTEGER NOT NULL,
        wall_ms INTEGER NOT NULL,
        by      TEXT NOT NULL,
        key     TEXT,
        event   TEXT NOT NULL,
        hash    BLOB NOT NULL,
        concerns TEXT
    ) STRICT;
CREATE TRIGGER events_are_final BEFORE UPDATE ON events
        BEGIN SELECT raise(ABORT, 'events are never changed'); END;
CREATE TABLE sealed (only INTEGER PRIMARY KEY CHECK (only = 1), up_to INTEGER NOT NULL) STRICT;
CREATE TRIGGER only_sealed_events_go BEFORE DELETE ON events WHEN OLD.seq > (SELECT up_to FROM sealed)
        BEGIN SELECT raise(ABORT, 'only sealed events may go'); END;
CREATE TABLE written_by (
    only INTEGER PRIMARY KEY CHECK (only = 1), form INTEGER NOT NULL, version TEXT NOT NULL) STRICT;
INSERT INTO sealed VALUES (1, 0);
INSERT INTO written_by VALUES (1, 2, '0.1.0');
PRAGMA user_version = 2;
