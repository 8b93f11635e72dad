BEGIN TRANSACTION;
CREATE TABLE closed_instances (
            instance_id TEXT PRIMARY KEY NOT NULL,
            workspace_key TEXT NOT NULL,
            reason TEXT NOT NULL,
            submitted_by TEXT NOT NULL,
            closed_tick INTEGER NOT NULL
        ) WITHOUT ROWID
        ;
INSERT INTO "closed_instances" VALUES('bafyr4iavjtpkssbujmv4lvv5c3pfvd3yz7gi6biorwbgc6z2xp2np3qqem','ws-2','withdrawn','',1700000000000000015);
INSERT INTO "closed_instances" VALUES('bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni','ws-3','expired','timer',1700000000000000006);
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
INSERT INTO "interaction_resolutions" VALUES('bafyr4igdqma4aoaejxltemvc2jd2cczx7fegsopvhqswd5wla52fjvi3im','ws-3','bafyr4ihu2c4gb2uczv67gnhztthxew2rtwktnokevfucgopbisbh4npsjq','key-1',1700000000000000012);
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
INSERT INTO "losing_attempts" VALUES(8,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',2,'late','ws-3','bafyr4ihu2c4gb2uczv67gnhztthxew2rtwktnokevfucgopbisbh4npsjq','key-1','tty',1700000000000000007);
INSERT INTO "losing_attempts" VALUES(9,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',3,'late','ws-3','bafyr4ignkzssasqdaehiwaizjo25sd3jabe4ao5dkb6xnibozahqyckjly','key-1','',1700000000000000008);
INSERT INTO "losing_attempts" VALUES(12,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',6,'fenced','ws-2','bafyr4ihu2c4gb2uczv67gnhztthxew2rtwktnokevfucgopbisbh4npsjq','key-1','',1700000000000000011);
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
INSERT INTO "resolution_events" VALUES(1,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',1,'won',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D31A56B65792D31A3747479CF17979CFE362A0000',0,X'0EF5DBCD605219A28A77910892730A3D12FBCAF4503630CCE68B115B1DF01FDD');
INSERT INTO "resolution_events" VALUES(2,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',2,'lost',X'9601D93B62616679723469676E6B7A737361737164616568697761697A6A6F32357364336A61626534616F35646B6236786E69626F7A61687179636B6A6C79A477732D31A56B65792D32A87765623A37663361CF17979CFE362A0001',2497548792739689418,X'468A950FFA97DA23C15B71689BB728BAD7EB1A2110CEA88B0246DD65FA5B869F');
INSERT INTO "resolution_events" VALUES(3,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',3,'replayed',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D31A56B65792D33A0CF17979CFE362A0002',4098738739723453956,X'A6824DEE63745443FB09EA6B17049CD4DC7476E2A6DCDD4BEA906514D28E95EE');
INSERT INTO "resolution_events" VALUES(4,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',4,'conflicted',X'9601D93B626166797234696235347437736F6D77656A67716478686A6C6E366C6F33616E326D6D326564727932756E3333346472616D6E7832727561357A61A477732D31A56B65792D32A0CF17979CFE362A0003',-2470411921930779821,X'8474FCA9FB3864C339B02627A93F12B05D80EF49928A3AAEF9D0414A535C9318');
INSERT INTO "resolution_events" VALUES(5,'bafyr4idq2edh63pq4v5346hyi4zunfdued7rk6n2bj4xttm4wuna4f5cye',5,'fenced',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D32A56B65792D31A9656C73657768657265CF17979CFE362A0004',-3451413896766852481,X'64C9B85CDF8AA9826DF3767E23748BB25A918426C626A42232BEC095D03278E8');
INSERT INTO "resolution_events" VALUES(6,'bafyr4ia62lmesj6fv3tdosfpx53pjj5yclibd7uylj5dm6wt2lnitiyjpq',1,'won',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D32A56B65792D31A0CF17979CFE362A0005',0,X'D93288C9D01F6E42A759F509853A26A488DB9FD7A6D12461F708134AF25F5CB3');
INSERT INTO "resolution_events" VALUES(7,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',1,'closed',X'9501A765787069726564A477732D33A574696D6572CF17979CFE362A0006',0,X'3B04D6F77FC53D71FF8C2ECB5943F235EC762BC8140679EC8211E7FB2030A604');
INSERT INTO "resolution_events" VALUES(8,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',2,'late',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D33A56B65792D31A3747479CF17979CFE362A0007',6458268893346933539,X'585358B75FA81422D2DB08138A1605D659173345CBF5F2A3BFB19EAD5788E46C');
INSERT INTO "resolution_events" VALUES(9,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',3,'late',X'9601D93B62616679723469676E6B7A737361737164616568697761697A6A6F32357364336A61626534616F35646B6236786E69626F7A61687179636B6A6C79A477732D33A56B65792D31A0CF17979CFE362A0008',8208318585191457641,X'45B8888EA4361E3E02C1C134ADB169A2A91DB0BD2E0E63866F5BC3007F513FC1');
INSERT INTO "resolution_events" VALUES(10,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',4,'withdrawal-late',X'9501A977697468647261776EA477732D33A0CF17979CFE362A0009',8169966278218521192,X'BEB4D3AA80ACB026E212E6EE97528DA4638B5B5DC6964D8CBFA42845E02683E5');
INSERT INTO "resolution_events" VALUES(11,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',5,'withdrawal-fenced',X'9501A765787069726564A477732D32A9656C73657768657265CF17979CFE362A000A',8934626969638060968,X'AE855624BBEC9955FD07249BBCA794F6AAF5FF2C17856AFF747DB18A20E0CDA5');
INSERT INTO "resolution_events" VALUES(12,'bafyr4ica3rqkhl6s6ql7g6zsgkgdc6zfojmjbeqtrf6sljgndwyr5pa2ni',6,'fenced',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D32A56B65792D31A0CF17979CFE362A000B',-8207892520505513652,X'08258878ED2C3F2B808366DD6AE6C875994B89EC7FBC0BB2FEB2D450786AEBF5');
INSERT INTO "resolution_events" VALUES(13,'bafyr4igdqma4aoaejxltemvc2jd2cczx7fegsopvhqswd5wla52fjvi3im',1,'won',X'9601D93B62616679723469687532633467623275637A763637676E687A747468786577327274776B746E6F6B6576667563676F706269736268346E70736A71A477732D33A56B65792D31A0CF17979CFE362A000C',0,X'17E2A7DF0102A14192E96EC55338563845576E9BA9F9CFECA7DF8FC0A0FEF1D7');
INSERT INTO "resolution_events" VALUES(14,'bafyr4igdqma4aoaejxltemvc2jd2cczx7fegsopvhqswd5wla52fjvi3im',2,'withdrawal-lost',X'9501A977697468647261776EA477732D33A574696D6572CF17979CFE362A000D',-2947109894818595116,X'8EBEB035ED3E4C95D22FC22AB878750E6379F22E2E6CB6A2C6A72E336626ECFF');
INSERT INTO "resolution_events" VALUES(15,'bafyr4igdqma4aoaejxltemvc2jd2cczx7fegsopvhqswd5wla52fjvi3im',3,'withdrawal-fenced',X'9501A977697468647261776EA477732D32A0CF17979CFE362A000E',-8395312735510082957,X'A8B11C8DB8FDF16DC45D4085004A3EA7352FF50D4AFB241A80E3FDCEE4D29459');
INSERT INTO "resolution_events" VALUES(16,'bafyr4iavjtpkssbujmv4lvv5c3pfvd3yz7gi6biorwbgc6z2xp2np3qqem',1,'closed',X'9501A977697468647261776EA477732D32A0CF17979CFE362A000F',0,X'4795C32B9E7BDA128547D150FFD0444789545D78F16F3FB82ECE658FF29F0DFD');
CREATE TABLE resolution_ledger_meta (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        schema_version INTEGER NOT NULL,
        ledger_id TEXT NOT NULL
    );
INSERT INTO "resolution_ledger_meta" VALUES(1,2,'ffeeddccbbaa99887766554433221100');
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
CREATE INDEX resolution_events_closing
            ON resolution_events (originator_id) WHERE topic = 'closed'
        ;
COMMIT;
