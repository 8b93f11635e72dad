BEGIN TRANSACTION;
CREATE TABLE interaction_resolutions (
        instance_id TEXT PRIMARY KEY NOT NULL,
        workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        resolved_tick INTEGER NOT NULL
    ) WITHOUT ROWID
    ;
INSERT INTO "interaction_resolutions" VALUES('bafyr4ia62lmesj6fv3tdosfpx53pjj5yclibd7uylj5dm6wt2lnitiyjpq','ws-2','bafyr4ihu2c4gb2uczv67gnhztthxew2rtwktnokevfucgopbisbh4npsjq','key-1',1700000000000000005);
INSERT INTO "interaction_resolutions" VALUES('bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye','ws-1','bafyr4ihu2c4gb2uczv67gnhztthxew2rtwktnokevfucgopbisbh4npsjq','key-1',1700000000000000000);
CREATE TABLE losing_attempts (
        sequence INTEGER PRIMARY KEY NOT NULL,
        instance_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        submitted_by TEXT NOT NULL,
        attempted_tick INTEGER NOT NULL
    );
INSERT INTO "losing_attempts" VALUES(2,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',2,'lost','ws-1','bafyr4ignkzssasqdaehiwaizjo25sd3jabe4ao5dkb6xnibozahqyckjly','key-2','web:7f3a',1700000000000000001);
INSERT INTO "losing_attempts" VALUES(3,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',3,'replayed','ws-1','bafyr4ihu2c4gb2uczv67gnhztthxew2rtwktnokevfucgopbisbh4npsjq','key-3','',1700000000000000002);
INSERT INTO "losing_attempts" VALUES(4,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',4,'conflicted','ws-1','bafyr4ib54t7somwejgqdxhjln6lo3an2mm2edry2un334dramnx2rua5za','key-2','',1700000000000000003);
INSERT INTO "losing_attempts" VALUES(5,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',5,'fenced','ws-2','bafyr4ihu2c4gb2uczv67gnhztthxew2rtwktnokevfucgopbisbh4npsjq','key-1','elsewhere',1700000000000000004);
CREATE TABLE resolution_events (
        sequence INTEGER PRIMARY KEY NOT NULL,
        originator_id TEXT NOT NULL,
        originator_version INTEGER NOT NULL,
        topic TEXT NOT NULL,
        state BLOB NOT NULL,
        fingerprint INTEGER NOT NULL,
        hash BLOB NOT NULL,
        UNIQUE (originator_id, originator_version)
    );
INSERT INTO "resolution_events" VALUES(1,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',1,'won',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D31A56B65792D31A3747479CF17979CFE362A0000',0,X'E22B3EEB9BE20A78D53CDDF652BE319292019756B596183231524BD6323604FE');
INSERT INTO "resolution_events" VALUES(2,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',2,'lost',X'9601D93B62616679723469676E6B7A737361737164616568697761697A6A6F32357364336A61626534616F35646B6236786E69626F7A61687179636B6A6C79A477732D31A56B65792D32A87765623A37663361CF17979CFE362A0001',2497548792739689418,X'81D93314B2E6682FBDB33024EB2E06AB4D544C9667F3C686BC863B5E42C7171F');
INSERT INTO "resolution_events" VALUES(3,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',3,'replayed',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D31A56B65792D33A0CF17979CFE362A0002',4098738739723453956,X'A2396D1EA193B99D3DC5F4DEDDD8906A6F5911F9EC9945AE95D7CAEAD714D466');
INSERT INTO "resolution_events" VALUES(4,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',4,'conflicted',X'9601D93B626166797234696235347437736F6D77656A67716478686A6C6E366C6F33616E326D6D326564727932756E3333346472616D6E7832727561357A61A477732D31A56B65792D32A0CF17979CFE362A0003',-2470411921930779821,X'84F5FB3AD0DDCB0EB09CEACDC5425F36AD85AD0E892FB9CBAF1E58688A7B5951');
INSERT INTO "resolution_events" VALUES(5,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',5,'fenced',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D32A56B65792D31A9656C73657768657265CF17979CFE362A0004',-3451413896766852481,X'1B600A06379739A2506403284732899C126E1266F231B1B096FFE492AD248E3D');
INSERT INTO "resolution_events" VALUES(6,'bafyr4ia62lmesj6fv3tdosfpx53pjj5yclibd7uylj5dm6wt2lnitiyjpq',1,'won',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D32A56B65792D31A0CF17979CFE362A0005',0,X'57EAB756B5720C049E97DD98944C2339F0D8699A39989EBA38A432F606E83F7A');
CREATE TABLE resolution_ledger_meta (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        schema_version INTEGER NOT NULL,
        ledger_id TEXT NOT NULL
    );
INSERT INTO "resolution_ledger_meta" VALUES(1,1,'00112233445566778899aabbccddeeff');
CREATE INDEX resolution_events_by_fingerprint
        ON resolution_events (fingerprint) WHERE originator_version > 1
    ;
CREATE INDEX losing_attempts_newest
        ON losing_attempts (workspace_key) WHERE outcome <> 'replayed'
    ;
CREATE TRIGGER resolution_events_refuse_update BEFORE UPDATE ON resolution_events
    BEGIN SELECT RAISE(ABORT, 'resolution_events is append-only'); END;
CREATE TRIGGER resolution_events_refuse_delete BEFORE DELETE ON resolution_events
    BEGIN SELECT RAISE(ABORT, 'resolution_events is append-only'); END;
CREATE TRIGGER resolution_events_refuse_replace BEFORE INSERT ON resolution_events
    WHEN EXISTS (SELECT 1 FROM resolution_events
                  WHERE sequence = NEW.sequence
                     OR (originator_id = NEW.originator_id
                         AND originator_version = NEW.originator_version))
    BEGIN SELECT RAISE(ABORT, 'resolution_events is append-only'); END;
CREATE TRIGGER interaction_resolutions_follow_log_on_insert
        AFTER INSERT ON interaction_resolutions
        WHEN NOT EXISTS (SELECT 1 FROM resolution_events
                          WHERE originator_id = NEW.instance_id AND originator_version = 1
                            AND topic IN ('won', 'adopted')
                            AND substr(state, 5, 59) = CAST(NEW.response_id AS BLOB))
        BEGIN SELECT RAISE(ABORT, 'interaction_resolutions follows resolution_events'); END;
CREATE TRIGGER interaction_resolutions_follow_log_on_update
        AFTER UPDATE ON interaction_resolutions
        WHEN NOT EXISTS (SELECT 1 FROM resolution_events
                          WHERE originator_id = NEW.instance_id AND originator_version = 1
                            AND topic IN ('won', 'adopted')
                            AND substr(state, 5, 59) = CAST(NEW.response_id AS BLOB))
        BEGIN SELECT RAISE(ABORT, 'interaction_resolutions follows resolution_events'); END;
COMMIT;
