-- A database of Spanwise 0.1 with two tenants, two documents each, as pg_dump --inserts writes it.
CREATE SCHEMA spanwise;
CREATE TABLE spanwise.chunks (
    key bigint NOT NULL,
    tenant text NOT NULL,
    document bigint NOT NULL,
    "position" integer NOT NULL,
    chunk_id text NOT NULL,
    parent_id text,
    chunk_type text NOT NULL,
    content_hash text NOT NULL,
    words_hash text NOT NULL,
    record_hash text NOT NULL,
    record bytea NOT NULL,
    lead text NOT NULL,
    length integer NOT NULL,
    terms tsvector NOT NULL,
    vector public.halfvec(16)
);
ALTER TABLE ONLY spanwise.chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE spanwise.chunks ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME spanwise.chunks_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE spanwise.documents (
    key bigint NOT NULL,
    tenant text NOT NULL,
    document_id text NOT NULL,
    fingerprint text NOT NULL,
    metadata bytea NOT NULL,
    language text NOT NULL,
    analyser text NOT NULL,
    addresses text[] NOT NULL,
    targets text[] NOT NULL,
    labels text[] NOT NULL,
    space_key text,
    file_path text,
    place text,
    source_type text,
    updated_at text COLLATE pg_catalog."C",
    chunks integer NOT NULL
);
ALTER TABLE ONLY spanwise.documents FORCE ROW LEVEL SECURITY;
ALTER TABLE spanwise.documents ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME spanwise.documents_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE spanwise.facts (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE spanwise.frequencies (
    tenant text NOT NULL,
    term text NOT NULL COLLATE pg_catalog."C",
    chunks integer NOT NULL
);
ALTER TABLE ONLY spanwise.frequencies FORCE ROW LEVEL SECURITY;
CREATE TABLE spanwise.tenants (
    key integer NOT NULL,
    tenant text NOT NULL,
    documents bigint DEFAULT 0 NOT NULL,
    chunks bigint DEFAULT 0 NOT NULL,
    vectors bigint DEFAULT 0 NOT NULL,
    searched bigint DEFAULT 0 NOT NULL,
    terms bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY spanwise.tenants FORCE ROW LEVEL SECURITY;
ALTER TABLE spanwise.tenants ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME spanwise.tenants_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO spanwise.chunks OVERRIDING SYSTEM VALUE VALUES (1, '', 1, 0, '2b7ea51e373b76aeebc3de306a8c062ce04134d3804aca22d6cf227a71650e07', NULL, 'mixed', 'ba36fc3420b3b5967516061726038d07c667d697640aaac4f86bd224f54aaeb6', '6b9589d9c3214b02b9f8c2be795646df', 'bad3e2f1fa4f0c18a2124f4aec948a0f', '\x7801b5554b6f9b4010fe2b885cad08f358c0b7a88aa25edaaaf5a19213a1617716a8f12e5a96c44ee4ffde8185d46da3aa87f660cb3befc7f78d5f7c5e0f6a5f34c2dff8619922246b8cd2a84c1920963c1218050c321eb0906310afa358445910038730148ccb304c215db324c020f5573ed7caa2b22e5e99962c8f20c931489244e6994cf20c830c78c2d32c2be358d017d9a4eb50263c4fe2202f218f5290652622b88857435f538525444cf2280e83322a939ca5c99a056c9d862c883211a49cb154503c160700c06399b15284612c9318004b461185e6c3e1b54450cd01da9ee45436cc85aba16da915371825f0e86f8295df5b0316abd35846abf97e747236f6d421490fcd1105096b04d1a8aa2f3ab054f4ceff4ce2070a80dc365a15cedc2599224dd35a9282297a0bc64e39794d4f54b41cc6567ed720c79e22be50318bc9abd6e876ac826b8354c437dd2834f4f6cf94daa5999c2899ebc7c9c8dd49a2c5aa51a2716982d57a15ae22f21f831673ad6fa8f5239a16baa233f8f89b19b92f7a8547fb96be830a97aedd1c26c9d49a7b2b6d684fcd338ac25210eaebcaa3b1deab7bb5add133283ca98f5edf2276fdf528bef2ee0c9e16838a7e7b4fba959e969ed2a51627afd64f6d7f4db392b4efff10160f258a11094becdda79bbbdb07efc661ee5eedbedcbedbbefff8e1c1b5b2dbde7edd3e78ffb031abf7a80aae0745138b42b7889ea6e86f24a11e67bed25284d15d47305de4d3267f9c867909e3fa7e1576601636cd56f0d8543022dddfbcf88369fd8d531c473efcbc66def7458f2d1143bfc2de198f5b2eb4943ddac5853838495b54d548ac91127553d52d7d6c71400b022c8c49273369a01a894e5821a4786fc06442c8a4f8233c1cee6792d76b02cc457144d3f379e55f66ffeb0bd3ebc1709cef817f00b317fa4951fc5971313bd9b438df93793e8d9de83e83899c60b0b526c63bfdd0d130882d40fd3b490b25d2a5a37bf4acf5748f3aa0ec7ba48be62c26d28dff04174f62763fad7209a2aa81d8bad8b48da243b8d911c96961669cfef97cfe0e99b2273c', '', 14, '''1:en:anim'':1 ''1:en:fox'':6 ''1:en:grey'':8,10 ''1:en:howl'':14 ''1:en:nobodi'':13 ''1:en:of'':12 ''1:en:red'':2,3,5 ''1:en:sleep'':7 ''1:en:the'':4,9 ''1:en:wolf'':11', '[22,10,-1,-8,25,46,76,31,43,-13,21,-38,23,-5,-10,-38]');
INSERT INTO spanwise.chunks OVERRIDING SYSTEM VALUE VALUES (2, '', 2, 0, 'da1b8df6f838f4cb958eab8e25f5dabf89ea79063874f8657ede63adbf605b25', NULL, 'paragraph', 'ecc295354c019ffd56d05e5929c14fa8409490321d1fffe440353b3aa3209116', 'fb7ca13fb230ee6ed71803413f0f5a05', '0153ebda85698ee48ae53a26fd505165', '\x78018d54c96edb3010fd958067a3a0568bbee53b824218924349b54c0a1495a581ffbd4351729d34017ad061d6f766e651ef4cf58b3db7836627a621938d36b5698ac6944a8aaa41900de695a93448d30884a3e075d11c4bd3d4d51135d60568696a5ec9bc6207a69c0d6843ea5717b2c6a2c941725e706304d419549956a5281a7d548da851e6bcaea416e268445365bc3eca9aeb02b96af45dbf1ee69e18a252b9a88aaa543c13c6e8aad6bcc24ae44265a581a6e4a214bcc8339d1963b02c795115b20028722eb2aca68edaa9e572a3f8d2c38833b989356cbced328e3449da8bd5f8ca4efcc0e6e02160f7462ce4e8d43916a59cf036217927f0d079987a0af4087ab0dddc4e1088f7d34faa47150667db949d30d646ebae764cf0ed1cc0871552f564a2a5d364e5814d032aa27a7a7a272e7bca2deadd184928e791f07fb9c1a2279b5d093ac1ac450496c6493e2affe419ac1e120ca7cad8aedd587e08b867f4234cede4f1f99f042adce3165fc357f1093adc274db3af9e759c645be72f300ebf51b7819ad02c8f0febb51ee697e132ffa0290d1deadb205e24ea78846f33823ba36d955b2c75a70547ce3301b2938171c64dccc45f7b374d4867d8fcebd07fdfcdc6374efad9499ad8a5b665c1f3d04114023bbdb3c58fec9402af51291f37a2e6b99d7124ddb89b2a52725c48eb8c9931ec25a4d0d53ba2eda2e4a262faa1eb47fa427bc1001a0244d035cd9056e32bf86aade9debbaa69cf7770a4cbebf5c0eefbfdef839adde2156efa6717f067ed5e2cb5df0277cb30c388dbd3d9061e429477326009bd2371276b9968301209d02cc93382c4313e14d2e13c01619e919e6d0aae328b7fbb3b73bd7bbcc85e6fbb85f479b3074baf7d6d477bf77189d7ebf50f7917c758', '', 3, '''1:a'':1 ''1:en:swim'':3 ''1:en:whale'':2', '[45,6,48,34,-27,-30,-36,33,22,25,-25,57,13,-22,30,10]');
INSERT INTO spanwise.chunks OVERRIDING SYSTEM VALUE VALUES (3, 'acme', 3, 0, 'eefb41434fdc1472f80078e3a0293ed95b06d726cb28b843674bd38f5a0ae2d3', NULL, 'mixed', 'bba6375a8a21115ccd09a54ae189b771739f571f1c7b335dd62201fc3d17f741', '69479d7f0b46ad39c3f1dc9ac14a22d0', 'd0d78c2fb8fe5ac96d11d60564cae604', '\x7801ad554b6bdb4010fe2b42b98aa09725d9b75042e8a52dad0f052788d1eeaca45ade15ab55e224f8bf77562bb96e1b0a851c0cde793fbe6ff4eab36694fbb2e5fec64714551aa5492a388bd23c164518e6052610c6eb04f97a558519cfe38c557151156992e569c59342ac20048c79e2073e53d2a0342e5e91c69c71ce212df20a721e561965c87811f290410c3c637151883566825722c2558495086381029888f2f4225e0343431556156449be8202e2288a568cf1700dab14302ad6559e4779b216ab3c1211cbab2459719ec571180996f02817791a5144aed878389708b23d4037909cca86a5706007b4c9dd6824c7a3bf09037f301a0cd6cfb6904eb1bd757336e6b947921eda2372123608bc95f550f660a8ec9dff95c40f14009969952c9db91cbb2e7091a679b9376b409783016da69cd31325ad274b03bf6f91e140115fa998c5e4acd5aab35530a56df53f542b51d3db3f51eaa960179792b97e9c8cdc9d2459ac5ac95b97260ca2200e12f2b7414be7f0965a3da2eea02f7b8d8f7f9991fba29778346fe97ba871e9dacd61924cadb9b7549a36d5be202f0d05a1beae3c1aebbdbc97db063d8ddc13eae80d1d623f5c5bf19577a7f17931a8e9bff7a43ae129e1d9057b8d7aea866b9a94a045bc7b503c54c82d0a96c8bb2f3777b70fde8d43dcbddc7dbbfdb0fdf8f9d3836b63b7bdfdbe7df0dead29a3f6284ba64649b34a68b7760503cdcfdf08423cce5ca57570adfa9e00bac8a71dfe3a0bf3f8ede2fe14f6a01726cd56f0d8d66031ee6f5efd5177fec6298e9609bf2f980d43396047945067c03b63bbdf520931a0595c887d93b443595b4a5932346ddd74f433e5010d703060934e6642436d494e28218c786f0064c2c6a4f807301cde677237f67a5c9446f43c9d02ff32f77fdc96418d9ae17c09fc03e83d574f9232cc8a8bd989b6c3f992ccf369cd44f4194ae404a3691471dde9c79e86413c01eadf493aa890ae1c5da217a5a64bd40365df23dd326731d1cd7e052e9e1360ec2a9720b21e89a7e7772be9046e76446f5a98b6d33f9d4e3f01944a25fb', '', 14, '''2:en:acm'':13 ''2:en:anim'':1 ''2:en:fox'':6 ''2:en:grey'':8,10 ''2:en:howl'':14 ''2:en:of'':12 ''2:en:red'':2,3,5 ''2:en:sleep'':7 ''2:en:the'':4,9 ''2:en:wolf'':11', '[18,2,-1,-2,15,60,75,29,46,-1,24,-30,23,-14,-11,-34]');
INSERT INTO spanwise.chunks OVERRIDING SYSTEM VALUE VALUES (4, 'acme', 4, 0, 'da1b8df6f838f4cb958eab8e25f5dabf89ea79063874f8657ede63adbf605b25', NULL, 'paragraph', 'ecc295354c019ffd56d05e5929c14fa8409490321d1fffe440353b3aa3209116', 'fb7ca13fb230ee6ed71803413f0f5a05', 'a7b2da5dbe2921ca4607d60a51d2c08d', '\x78018d54db6edb300cfd95c2cfc1205f63e5addf510c062d51b617453224b99715f9f751969da55d0becc10fbc883c3c3cf47b26c6c59cbb4966a74c42deb75235aa2d5b55899ed72d42df6251ab5a42af5a8e70e4ac29db63a5daa63ea2c4a604d9ab86d57d5167874c5813d08454af29fb06cbb6809eb19229c5a1c9a1cea5a878d9caa36879837dc19aba979c1f156feb9c35c7be61b244265a79576f043f124214a2e075595782e55c29593792d558f3828bbc52d0568c579c95452e73a51456152bebb22f01ca82f13c6fa8a2b462b9dc20be8ca0d1939b50c38e1bc40563efc48c91f89a9dd821f3c141c0e18d70f4da8a737c9672c2db8ce49dc1c1e0601e293022c8c90cbe9b2110f2a79ff41e4598ace952b659b43ea4422b5bc91623b8ce0770616db99a6868397975c8e60905813d3dbd13963de51675564710c2ba08fe979d0c3ab2b32bb55ef1a6bad42c8d937cf4fc936732724a6d18bd8ce5ba94fa31609fd16998bbd9e1f33f09f4708f1b7c0d5fc56718709f34cdbe7ad671926dacbb809e7ea3ec0215a1591e1fd67d3df897e9e27fd0948a48fc3688971e655cc2b719c19ed174c22e86aa13c111b3a786d94981f6b8c999f04b67e719690d9b7f1dfaefe56c78e3a49f9da4895d6c5b163c4f03442164a7f76c713a3ba5c06b54ca474684f79d474dbab13755a4e448486795f218f627a4d0d5abd10c51725131e3348c9abed05d30808400b1e99aa648abf10ebea235ed7b5735f17cd78e7479bd1eb2fb7aff7f52de2e4ee07601d905dc59da17430db6c01d1d6ad2b81dcf36f214a2c093014b182dc93b59cb4ca3914c80a6491e0d3dea782aa4443f03f53c231d6e0aae428b7fbc3b73dd7cdcc9fede0c0b29f4664f86ee7d2d47ccbb48e3f57afd03aec0c796', '', 3, '''2:a'':1 ''2:en:swim'':3 ''2:en:whale'':2', '[45,6,48,34,-27,-30,-36,33,22,25,-25,57,13,-22,30,10]');
INSERT INTO spanwise.documents OVERRIDING SYSTEM VALUE VALUES (1, '', 'animals', '6e26657bd174d53fe4190e70785aab36', '\x78013d8e4b0e83300c44efe23527c8aee7a8aac8252e4418270a4e5b8ab87bc3272c67fc3c330bb8d0e69144ad776000c58fc81334a02478ba92991b98424e2d599d231570c434b8f091429e879c18cc81be3c938da87d35d42b6f5fb72b1eb3f621d57b8e0e959c45ad0ee393ca0e73875f08f0282d114bfb4073252276b48f3e3a77f9a634f9201561942e17ecd25e862db3c4d157138259d6f50fa1815b60', 'en', '1', '{}', '{}', '{zoo}', NULL, NULL, NULL, 'markdown', NULL, 1);
INSERT INTO spanwise.documents OVERRIDING SYSTEM VALUE VALUES (2, '', 'whales', '27a8d808a68209d1e36b4817e122129c', '\x78013d8e510ec3200c43ef92ef9e80ab4c13ca4ad6a2a68020595755bdfb500bfbb4fde2f80017475d2988f50e0c6c333215184028603383320f50a2e691acec892ab7625e5cdc42255ba099c1dce8db33d984327743bc70bdba53549963ee4a9343216751bac3f8222e601ecfda9db0fe5c68ef61c289aea577d7253f948b8fa1238c61d28afdb50f4baba3af6404739ce70f0d185815', 'en', '1', '{}', '{}', '{}', NULL, NULL, NULL, 'markdown', NULL, 1);
INSERT INTO spanwise.documents OVERRIDING SYSTEM VALUE VALUES (3, 'acme', 'animals', '15ed67acb96504d6556f0919c6c8f594', '\x7801458e510ec2300c43ef92ef9da07f9c03a12aac61ab96a655970263dadde9863a3eed387e5ec1c5be0412b5de8101141f9067e84049f074fb40d59a63c93d595d12d568c03cb9f892ffa164062385b9838767b209756c867ae5fdeb7202b0e81873bb97e450c959d4e630dea92e3157f8c408b78a4f58e9132d2d9170a063f68f79c827e5d947691146194a8d9ddacbb477d63a7a6b4630ebb67d01d8185b7f', 'en', '1', '{}', '{}', '{zoo}', NULL, NULL, NULL, 'markdown', NULL, 1);
INSERT INTO spanwise.documents OVERRIDING SYSTEM VALUE VALUES (4, 'acme', 'whales', '4aa50d0639c0d8ad1e646c2505b19573', '\x7801458e510ec3200c43ef92ef9e80ab4c13ca4ad622524090acabaade7da81ddba79f1d3b3bb834ea4251ac7760609d91a9c20042113bc471a1866ad23292952d534b2e58824b6bfc1b5a184c54e6019e9ec96694b903f1c2edea7251654ea52bcd0e859c45e984f1415cc1dcee6d3463db0cb47533e344e7af57d7295f54aa4fb14718e3a42df6d33e866f1dbda52098fd383e41b75834', 'en', '1', '{}', '{}', '{}', NULL, NULL, NULL, 'markdown', NULL, 1);
INSERT INTO spanwise.facts VALUES ('schema', '1');
INSERT INTO spanwise.facts VALUES ('model', 'of-words');
INSERT INTO spanwise.facts VALUES ('dimension', '16');
INSERT INTO spanwise.frequencies VALUES ('', 'a', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:anim', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:fox', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:grey', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:howl', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:nobodi', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:of', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:red', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:sleep', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:swim', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:the', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:whale', 1);
INSERT INTO spanwise.frequencies VALUES ('', 'en:wolf', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'a', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:acm', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:anim', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:fox', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:grey', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:howl', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:of', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:red', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:sleep', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:swim', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:the', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:whale', 1);
INSERT INTO spanwise.frequencies VALUES ('acme', 'en:wolf', 1);
INSERT INTO spanwise.tenants OVERRIDING SYSTEM VALUE VALUES (1, '', 2, 2, 2, 2, 17);
INSERT INTO spanwise.tenants OVERRIDING SYSTEM VALUE VALUES (2, 'acme', 2, 2, 2, 2, 17);
SELECT pg_catalog.setval('spanwise.chunks_key_seq', 4, true);
SELECT pg_catalog.setval('spanwise.documents_key_seq', 4, true);
SELECT pg_catalog.setval('spanwise.tenants_key_seq', 2, true);
ALTER TABLE ONLY spanwise.chunks
    ADD CONSTRAINT chunks_pkey PRIMARY KEY (key);
ALTER TABLE ONLY spanwise.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (key);
ALTER TABLE ONLY spanwise.documents
    ADD CONSTRAINT documents_tenant_document_id_key UNIQUE (tenant, document_id);
ALTER TABLE ONLY spanwise.facts
    ADD CONSTRAINT facts_pkey PRIMARY KEY (name);
ALTER TABLE ONLY spanwise.frequencies
    ADD CONSTRAINT frequencies_pkey PRIMARY KEY (tenant, term);
ALTER TABLE ONLY spanwise.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (key);
ALTER TABLE ONLY spanwise.tenants
    ADD CONSTRAINT tenants_tenant_key UNIQUE (tenant);
CREATE INDEX chunks_chunk_id ON spanwise.chunks USING btree (tenant, chunk_id);
CREATE INDEX chunks_content_hash ON spanwise.chunks USING btree (tenant, content_hash);
CREATE INDEX chunks_document ON spanwise.chunks USING btree (document, "position");
CREATE INDEX chunks_terms ON spanwise.chunks USING gin (terms);
ALTER TABLE ONLY spanwise.chunks
    ADD CONSTRAINT chunks_document_fkey FOREIGN KEY (document) REFERENCES spanwise.documents(key) ON DELETE CASCADE;
ALTER TABLE spanwise.chunks ENABLE ROW LEVEL SECURITY;
ALTER TABLE spanwise.documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE spanwise.frequencies ENABLE ROW LEVEL SECURITY;
ALTER TABLE spanwise.tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenants_apart ON spanwise.chunks USING ((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2))) WITH CHECK ((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2)));
CREATE POLICY tenants_apart ON spanwise.documents USING ((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2))) WITH CHECK ((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2)));
CREATE POLICY tenants_apart ON spanwise.frequencies USING ((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2))) WITH CHECK ((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2)));
CREATE POLICY tenants_apart ON spanwise.tenants USING (((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2)) OR (current_setting('spanwise.caretaker'::text, true) = 'on'::text))) WITH CHECK ((tenant = substr(NULLIF(current_setting('spanwise.tenant'::text, true), ''::text), 2)));
