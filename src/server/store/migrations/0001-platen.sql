-- All that the service keeps, but for the lanes (`src/queue/postgres/schema/`).

-- === Tenants and their service accounts ===

-- A deployment's customers.
create table platen.tenants (
  id text primary key,
  name text not null,
  -- Labels per calendar month (UTC); null: no limit.
  quota_labels bigint check (quota_labels >= 0),
  -- Labels of test jobs per calendar month (UTC).
  test_labels bigint not null default 10000 check (test_labels >= 0),
  created_at timestamptz not null default now(),
  -- Whether the tenant's raw templates may set printers up: an administrator decides, since printers are often shared.
  printer_commands boolean not null default false,
  -- With it, values of records become marks (`job_values`): nobody who has only the marks can try values.
  search_key bytea not null default sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea),
  -- Since when the tenant may not send printer commands any more, as long as jobs may wait that were accepted before.
  commands_withdrawn_at timestamptz,
  -- Whether a job is refused whose label does not fit the printer's media; else that is a warning.
  media_must_fit boolean not null default false
);

-- Labels taken from the quota. Several rows (shards) for one month, so that the jobs of a tenant without a limit
-- do not wait for each other's commit; a tenant with a limit counts under the lock of shard 0.
create table platen.usage (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  month date not null,
  -- Labels of test jobs, which have a quota of their own.
  test boolean not null default false,
  shard smallint not null,
  labels bigint not null,
  primary key (tenant_id, month, test, shard)
);

-- Labels accepted on days (UTC) that are over, so that a year of them is not counted from the jobs each time. Of days that
-- are not in `usage_days_done` the jobs tell.
create table platen.usage_days (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  day date not null,
  template_id text not null,
  printer_id text not null,
  template_name text not null,
  printer_name text not null,
  jobs bigint not null,
  labels bigint not null,
  primary key (tenant_id, day, template_id, printer_id)
);
create table platen.usage_days_done (day date primary key);

-- Service accounts. Secrets are kept as slow hashes only. There are two at a time while a system is given another one:
-- `old_secret_hash` counts until it is removed or, where there is an end, until then. `last_used_at` is a few minutes
-- off at most.
create table platen.integrations (
  api_key text primary key,
  tenant_id text not null references platen.tenants (id) on delete cascade,
  name text not null,
  scope text[] not null,
  -- A test key: what such an integration sends prints on virtual printers only, and counts by itself. The mark is given when
  -- one is made, and never changes.
  test boolean not null default false,
  secret_hash text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  last_used_at timestamptz,
  secret_created_at timestamptz,
  old_secret_hash text,
  old_secret_created_at timestamptz,
  old_secret_ends_at timestamptz
);
create index integrations_tenant on platen.integrations (tenant_id);

-- Keys that sign access tokens, shared by all instances. The private key is sealed with a key that the database does not
-- have; `sealed_with` is that key's fingerprint.
create table platen.signing_keys (
  kid text primary key,
  public_jwk json not null,
  created_at timestamptz not null default now(),
  sealed text not null,
  sealed_with text not null
);

-- Failed token requests; the layout is rate-limiter-flexible's.
create table platen.token_failures (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- === People ===

-- People. Roles are those of `src/contract/people.ts` (a test compares). `deployment`: may also do what concerns all
-- tenants. Tokens and passwords are kept as hashes only.
create table platen.people (
  id uuid primary key default gen_random_uuid(),
  tenant_id text not null references platen.tenants (id) on delete cascade,
  login text not null,
  name text not null,
  role text not null constraint people_role check (role in ('viewer', 'operator', 'designer', 'admin')),
  deployment boolean not null default false,
  password_hash text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz,
  revoked_at timestamptz,
  unique (tenant_id, login)
);

-- Links that work once: an invitation, by which a person sets a password, or a sign-in.
create table platen.one_time_tokens (
  token_hash bytea primary key,
  person_id uuid not null references platen.people (id) on delete cascade,
  purpose text not null check (purpose in ('invitation', 'sign-in')),
  expires_at timestamptz not null
);
create index one_time_tokens_person on platen.one_time_tokens (person_id);

create table platen.sessions (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique,
  person_id uuid not null references platen.people (id) on delete cascade,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_person on platen.sessions (person_id, created_at);

-- Who a person is at the provider of single sign-on (OpenID Connect Core §2: `iss` and `sub` together name somebody for
-- ever, an e-mail address does not). Bound with the first sign-in.
create table platen.provider_subjects (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  issuer text not null,
  subject text not null,
  person_id uuid not null references platen.people (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (tenant_id, issuer, subject),
  unique (person_id, issuer)
);

-- Passkeys (WebAuthn). `counter`: what the authenticator counted last; one that counts backwards has been copied.
create table platen.passkeys (
  id text primary key,
  person_id uuid not null references platen.people (id) on delete cascade,
  name text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_person on platen.passkeys (person_id, created_at);

-- What an authenticator is to sign, once. `person_id`: whose new passkey it is for; null: for a sign-in.
create table platen.passkey_challenges (
  challenge text primary key,
  person_id uuid references platen.people (id) on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_age on platen.passkey_challenges (expires_at);

-- What was done under `/app`, and by whom. It outlives people and tenants, so it refers to neither. `tenant_id` null: it
-- concerned no tenant alone.
create table platen.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  tenant_id text,
  who_kind text not null check (who_kind in ('person', 'machine')),
  who_id text not null,
  who_name text not null,
  what text not null,
  object text,
  details json not null default '{}',
  address text
);
create index audit_tenant on platen.audit (tenant_id, id desc);
create index audit_age on platen.audit (at);

-- === Templates ===

create table platen.templates (
  id text primary key,
  tenant_id text not null references platen.tenants (id) on delete cascade,
  name text not null,
  body json not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, name)
);

-- What a template was each time that somebody saved it, as it was sent; the newest is what it is now.
create table platen.template_versions (
  template_id text not null references platen.templates (id) on delete cascade,
  number integer not null,
  name text not null,
  body json not null,
  who text,
  at timestamptz not null default now(),
  primary key (template_id, number)
);

-- What somebody has drawn that would not print yet, at most one for each template. Jobs print the template as it was saved
-- before.
create table platen.template_drafts (
  template_id text primary key references platen.templates (id) on delete cascade,
  body json not null,
  who text,
  at timestamptz not null default now()
);

-- === Agents and printers ===

-- `reported_at` is the agent's clock and orders its reports, `seen_at` is the database's and says if it is online.
-- `unreached`: addresses that the agent's configuration names and that it has never reached.
create table platen.agents (
  id text primary key,
  name text not null,
  version text not null,
  tenant_id text,
  online boolean not null,
  reported_at timestamptz not null,
  seen_at timestamptz not null,
  unreached json not null default '[]',
  -- What an agent says of the last update of its machine, where that did not come up: its version, and when it was.
  went_back json,
  -- What an enrolled agent counts of itself, by its last heartbeat.
  counts json
);

-- What each agent says of each printer. Two agents may tell of one printer; a tenant sees only what its own agents say,
-- and the shared ones of printers that it may use. `gone_at`: the agent has dropped it. `confirmed_by`: how it becomes known
-- that a label is out. `since`: when the printer came into its state, with its reasons.
create table platen.agent_printers (
  agent_id text not null references platen.agents (id) on delete cascade,
  printer_id text not null,
  name text not null,
  uri text not null,
  model text,
  state text not null,
  reasons text[] not null,
  formats json not null,
  -- What the printer has left of what it uses up, as its agent last heard it.
  supplies json not null default '[]',
  gone_at timestamptz,
  confirmed_by text,
  since timestamptz not null default now(),
  primary key (agent_id, printer_id)
);
create index agent_printers_printer on platen.agent_printers (printer_id);
create index agent_printers_name on platen.agent_printers (name);

create function platen.note_printer_state() returns trigger language plpgsql as $$
begin
  new.since := now();
  return new;
end $$;
create trigger note_printer_state before update on platen.agent_printers for each row
  when (old.state is distinct from new.state or old.reasons is distinct from new.reasons)
  execute function platen.note_printer_state();

-- The virtual printers that instances of the service run with their own agents. Instances write this themselves: an agent's
-- word does not count, since what is virtual may print beside the tenant's quota.
create table platen.virtual_printers (
  agent_id text not null,
  uri text not null,
  primary key (agent_id, uri)
);

-- Whether every agent that has the printer in this scope says that it is at a virtual printer of its own: whichever agent
-- takes the job, it comes out there. False where no agent has it.
create function platen.only_virtual(of_scope text, printer text) returns boolean language sql stable as $$
  select coalesce(bool_and(exists (select from platen.virtual_printers v where v.agent_id = p.agent_id and v.uri = p.uri)), false)
  from platen.agent_printers p join platen.agents a on a.id = p.agent_id
  where p.printer_id = printer and p.gone_at is null and a.tenant_id is not distinct from of_scope
$$;

-- Printers that people have added by their address, for one agent to drive. `said`: what people say of the printer (name,
-- language, size), as the agent is told.
create table platen.added_printers (
  id uuid primary key default gen_random_uuid(),
  agent_id text not null references platen.agents (id) on delete cascade,
  uri text not null,
  said json not null,
  added_by text not null,
  added_at timestamptz not null default now(),
  unique (agent_id, uri)
);

-- What people have set for a printer, by its lane. Held: its jobs wait. `mark_due`: the queue has not been told yet whether
-- the lane is held. `hidden`: not offered where people choose a printer; jobs that name it are printed all the same.
-- `print_settings`: for all of its formats, over what its agent's configuration says.
create table platen.lane_settings (
  lane text primary key,
  display_name text,
  -- To find the printer in the hall: where it stands, which group it belongs to, and anything else.
  place text,
  group_name text,
  note text,
  held_by text,
  held_at timestamptz,
  held_why text,
  mark_due boolean not null default false,
  hidden boolean not null default false,
  print_settings jsonb not null default '{}',
  -- The tenants that a shared printer is granted to; null: it is every tenant's.
  granted_to text[],
  -- In the address at which IPP offers the printer. What the printer says of itself is told there without a key: nobody
  -- guesses the address, and it stays when the printer is offered again. A tenant is whoever comes with a key.
  ipp_uuid uuid unique,
  -- Since when a person has IPP offer it; null: it is not offered.
  offered_at timestamptz
);
create index lane_settings_name on platen.lane_settings (display_name) where display_name is not null;

-- Whether a tenant may use a printer: the one rule for it. `of_scope` and `granted_to` are the printer's. Tenant null: whoever
-- may do what concerns all tenants.
create function platen.may_use(tenant text, of_scope text, granted_to text[]) returns boolean language sql immutable as $$
  select tenant is null or coalesce(of_scope = tenant, granted_to is null or tenant = any(granted_to))
$$;

-- Whether an agent is a tenant's, or shared with a printer that the tenant may use, or with none at all.
create function platen.may_see_agent(tenant text, agent text, of_scope text) returns boolean language sql stable as $$
  select coalesce(of_scope = tenant, (
    select bool_or(platen.may_use(tenant, null, s.granted_to))
    from platen.agent_printers p left join platen.lane_settings s on s.lane = p.printer_id
    where p.agent_id = agent and p.gone_at is null), true)
$$;

-- A tenant of the same ID that comes later has none of these.
create function platen.forget_grants() returns trigger language plpgsql as $$
begin
  update platen.lane_settings set granted_to = array_remove(granted_to, old.id) where old.id = any(granted_to);
  return null;
end $$;
create trigger forget_grants after delete on platen.tenants for each row execute function platen.forget_grants();

-- === Agents at other sites ===

-- Codes by which agents enroll, each of them one. A code is kept as its hash. `agent_id` and `public_key`: who used it, for
-- the agent whose answer was lost.
create table platen.agent_invitations (
  code_hash bytea primary key,
  -- The invitation's name for those who wait for its agent: the code itself is nobody's but the agent's.
  id uuid not null default gen_random_uuid(),
  tenant_id text references platen.tenants (id) on delete cascade,
  name text not null,
  -- Whether every printer that the agent brings waits for a person.
  approve boolean not null default false,
  expires_at timestamptz not null,
  agent_id text,
  public_key text,
  used_at timestamptz
);
create index agent_invitations_tenant on platen.agent_invitations (tenant_id);

-- What is known of each agent that has enrolled, whether it was ever heard of or not.
create table platen.enrolled_agents (
  id text primary key,
  tenant_id text references platen.tenants (id) on delete cascade,
  name text not null,
  public_key text not null,
  -- Where it reaches the service, which it signs when it joins.
  origin text not null,
  -- By which invitation it has enrolled last.
  invitation uuid,
  enrolled_at timestamptz not null default now(),
  revoked_at timestamptz,
  -- A person has taken the revoked agent off the list. The row stays, and keeps the agent out.
  forgotten_at timestamptz,
  -- Whether every printer that it brings waits for a person.
  approve boolean not null default false,
  -- Counts what people have decided about its printers: whoever has the agent reads them anew.
  decided integer not null default 0,
  -- It is to be another tenant's (`moves_to`, null: every tenant's) once it has finished what it has in hand.
  moves boolean not null default false,
  moves_to text,
  -- Which process of the agent is connected to an instance, by which connection (`session`, random), and since when; null:
  -- none is. While it was heard of lately, no other process of the agent joins any instance: the data directory was copied.
  process text,
  session text,
  joined_at timestamptz,
  heard_at timestamptz,
  -- Why the agent was last refused, as a code of the protocol, and when.
  refused text,
  refused_at timestamptz,
  -- Each time that the agent joins it is given a state with a number, and keeps it beside its journal. `seq` is the number
  -- that it has said it keeps, `pending` the one that it was given since: who comes with an older one is a copy, or was
  -- restored. `let_in`: a person lets it in all the same, once.
  seq integer not null default 0,
  pending integer,
  let_in boolean not null default false,
  -- The number of the state before the first one that it was given since it enrolled. Those of an earlier enrolment are below.
  enrolled_seq integer not null default 0,
  -- When it last came with a state that is newer than this database, which had been restored, then, to an earlier time.
  ahead_at timestamptz
);
create index enrolled_agents_tenant on platen.enrolled_agents (tenant_id);

-- The printers that agents at other sites have reported, and whether the agent may have their jobs: `waiting` for a person,
-- `approved` by one or because no other agent has the ID, or `refused`.
create table platen.brought_printers (
  agent_id text references platen.enrolled_agents (id) on delete cascade,
  printer_id text,
  name text not null,
  state text not null check (state in ('approved', 'waiting', 'refused')),
  since timestamptz not null default now(),
  primary key (agent_id, printer_id)
);
create index brought_printers_id on platen.brought_printers (printer_id);

-- === Jobs ===

-- The template of a job as it was when the job was accepted: once for all jobs of the tenant that print it, by the hash of
-- its JSON. With each job, a picture of 390 KB in it went into the database's log with every job.
create table platen.job_templates (
  tenant_id text not null references platen.tenants (id),
  hash bytea not null,
  template json not null,
  -- Those that nobody has used for a day, and of which no job is left with its data, are deleted.
  used_at timestamptz not null default now(),
  primary key (tenant_id, hash)
);

create table platen.jobs (
  id uuid primary key,
  -- The order of acceptance.
  seq bigint generated always as identity,
  tenant_id text not null references platen.tenants (id),
  account text not null,
  -- Sent with a test key. A job has the mark for good, whoever moves it or prints it again.
  test boolean not null default false,
  template_id text not null,
  template_name text not null,
  printer_id text not null,
  printer_name text not null,
  requested_printer text,
  format text not null,
  orientation text not null,
  copies integer not null,
  records integer not null,
  -- The states of `src/contract/job-life.ts` (a test compares).
  status text not null default 'queued'
    constraint jobs_status check (status in ('queued', 'printing', 'printed', 'failed', 'canceled', 'held')),
  sent integer not null default 0,
  printed integer not null default 0,
  reasons text[] not null default '{}',
  error json,
  uncertain_from integer,
  uncertain_to integer,
  agent_id text,
  delivery integer not null default 0,
  report_seq integer not null default 0,
  -- What an agent gets, without the template. It holds label data, and is dropped once it cannot be needed again.
  payload json,
  -- When the job was added to its lane.
  dispatched_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- How often a person decided about a job that had ended. Reports of earlier rounds are history.
  round integer not null default 0,
  -- The tenant of the printer's agent; null for a shared printer. `lane` is what `src/contract/lane.ts` calls it.
  scope text,
  lane text not null generated always as (coalesce(scope || '/', '') || printer_id) stored,
  -- When a person asked for a job to be canceled that an agent had taken; until the agent has answered and its mark in the
  -- queue's store is gone.
  cancel_requested_at timestamptz,
  -- How many there are in `job_events`.
  events integer not null default 0,
  -- The job whose labels this one prints again or, with `is_rest`, whose rest it prints at another printer.
  reprint_of uuid,
  -- Null: the template has been deleted.
  template_hash bytea,
  -- Where what is left of the job goes once its agent has stopped it; with `refused` it was not taken there, and why.
  move_to jsonb,
  -- Labels of the job that usage counts, where those are not all of it: labels that were moved to another printer as a job
  -- of their own are counted with that one. Null: all.
  labels_counted integer,
  is_rest boolean not null default false,
  -- The label with which the job began. Those before it count as printed, but came out at the printer of `reprint_of`.
  first_label integer not null default 0,
  -- A value of the first record, for people to know the job by. It is label data, and goes with `payload`.
  first_value text,
  constraint jobs_template_hash foreign key (tenant_id, template_hash) references platen.job_templates (tenant_id, hash)
);
create index jobs_undispatched on platen.jobs (lane, seq) where dispatched_at is null and status = 'queued';
-- The sweep asks the queue about jobs that are being printed, too.
create index jobs_unfinished on platen.jobs (seq) where status in ('queued', 'printing');
create index jobs_cancel_requested on platen.jobs (seq) where cancel_requested_at is not null;
create index jobs_moving on platen.jobs (seq) where move_to is not null;
-- What an operator looks for: the newest jobs of a tenant, in one state, of one printer, template or account, page by
-- page. A deployment's list is merged from its tenants'.
create index jobs_of_tenant on platen.jobs (tenant_id, created_at desc, id desc);
create index jobs_by_status on platen.jobs (tenant_id, status, created_at desc, id desc);
-- Where a person has to say which labels are out.
create index jobs_undecided on platen.jobs (tenant_id, created_at desc, id desc)
  where status = 'held' or (status = 'canceled' and uncertain_to > uncertain_from);
create index jobs_by_printer on platen.jobs (tenant_id, printer_id, created_at desc, id desc);
-- With the printer beside it, what a template never printed at a printer is known from the index, and no job is read.
create index jobs_by_template on platen.jobs (tenant_id, template_id, created_at desc, id desc) include (printer_id);
create index jobs_by_account on platen.jobs (tenant_id, account, created_at desc, id desc);
-- What a test key asks for, without looking through all other jobs.
create index jobs_of_tests on platen.jobs (tenant_id, created_at desc, id desc) where test;
-- Tests that wait are looked through every few seconds: whether a printer that is not virtual has come into their lane.
create index jobs_tests_waiting on platen.jobs (scope, printer_id) where test and status = 'queued';
-- What waits in a lane, is printed there, or waits for a person.
create index jobs_in_lane on platen.jobs (lane, status, seq) where status in ('queued', 'printing', 'held');
create index jobs_reprints on platen.jobs (reprint_of) where reprint_of is not null;
create index jobs_by_template_hash on platen.jobs (tenant_id, template_hash) where template_hash is not null;
-- Label data of jobs that are over is kept for a while, for pictures and reprints.
create index jobs_with_data on platen.jobs (updated_at)
  where payload is not null and status in ('printed', 'canceled', 'failed');
-- Old jobs are looked for by age, a few pages at a time: rows come in the order of their acceptance.
create index jobs_age on platen.jobs using brin (created_at);

-- By which values of its records a job is found, as long as its data is kept. A value is not here itself, but its mark.
create table platen.job_values (
  tenant_id text not null,
  mark bigint not null,
  created_at timestamptz not null,
  job_id uuid not null,
  primary key (tenant_id, mark, created_at, job_id)
);
create index job_values_of_job on platen.job_values (job_id);

create function platen.value_mark(search_key bytea, value text) returns bigint language sql immutable strict as $$
  select ('x' || encode(substring(sha256(search_key || convert_to(value, 'UTF8')) from 1 for 8), 'hex'))::bit(64)::bigint
$$;

-- What drops a job's data drops with it all that was taken out of the data.
create function platen.forget_values() returns trigger language plpgsql as $$
begin
  delete from platen.job_values v where v.job_id = old.id;
  if tg_op = 'DELETE' then
    return old;
  end if;
  new.first_value := null;
  return new;
end $$;
create trigger forget_values before update on platen.jobs for each row
  when (old.payload is not null and new.payload is null) execute function platen.forget_values();
create trigger forget_deleted_values before delete on platen.jobs for each row
  when (old.payload is not null) execute function platen.forget_values();

create table platen.idempotency_keys (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  key text not null,
  body_hash bytea not null,
  job_id uuid not null,
  response json not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, key)
);
create index idempotency_keys_age on platen.idempotency_keys (created_at);

-- What happened to a job, for its time line; that it was accepted, its row says.
create table platen.job_events (
  job_id uuid not null references platen.jobs (id) on delete cascade,
  number integer not null,
  at timestamptz not null default clock_timestamp(),
  kind text not null,
  sent integer not null,
  printed integer not null,
  reasons text[] not null,
  error json,
  uncertain_from integer,
  uncertain_to integer,
  printer_id text not null,
  printer_name text not null,
  who text,
  why text,
  primary key (job_id, number)
);

-- The database writes events itself, so that no statement that changes a job can forget them. Who decides says so in
-- `platen.who` and `platen.why`, for the transaction. A printer that goes to and fro writes no endless history. That a job
-- was moved names the printer that it left: what follows says where it came to.
create function platen.note_job_event() returns trigger language plpgsql as $$
declare
  moved boolean := (new.printer_id, new.scope) is distinct from (old.printer_id, old.scope);
  kind text := (case
    when moved then 'moved'
    when old.status = 'canceled' and new.status = 'canceled' and new.round > old.round then 'decided'
    when (new.status, new.round) is distinct from (old.status, old.round) then new.status
    when new.cancel_requested_at is not null and old.cancel_requested_at is null then 'cancel-requested'
    when new.reasons is distinct from old.reasons then 'waits'
  end);
begin
  if kind is null or old.events >= (case kind when 'waits' then 400 else 2000 end) then
    return new;
  end if;
  new.events := old.events + 1;
  insert into platen.job_events (job_id, number, kind, sent, printed, reasons, error, uncertain_from, uncertain_to,
    printer_id, printer_name, who, why)
  values (new.id, new.events, kind, new.sent, new.printed, new.reasons, new.error, new.uncertain_from,
    new.uncertain_to, case when moved then old.printer_id else new.printer_id end,
    case when moved then old.printer_name else new.printer_name end,
    nullif(current_setting('platen.who', true), ''), nullif(current_setting('platen.why', true), ''));
  return new;
end $$;
create trigger note_job_event before update on platen.jobs for each row
  when (old.status is distinct from new.status or old.round is distinct from new.round
    or old.reasons is distinct from new.reasons or old.printer_id is distinct from new.printer_id
    or old.scope is distinct from new.scope or old.cancel_requested_at is distinct from new.cancel_requested_at)
  execute function platen.note_job_event();

-- What printers and templates were called when jobs were accepted for them: a list of jobs is asked for by a name that
-- nothing has any more, and must not read every job to find it.
create table platen.job_names (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  kind text not null check (kind in ('printer', 'template')),
  id text not null,
  name text not null,
  primary key (tenant_id, kind, id, name)
);
create index job_names_by_name on platen.job_names (kind, name);

-- Always in one order, so that two who write the same ones wait for each other in one direction only.
create function platen.note_job_names() returns trigger language plpgsql as $$
begin
  insert into platen.job_names
    select distinct tenant_id, 'printer', printer_id, printer_name from made
    union select distinct tenant_id, 'template', template_id, template_name from made
    order by 1, 2, 3, 4
    on conflict do nothing;
  return null;
end $$;
create trigger note_job_names after insert on platen.jobs referencing new table as made
  for each statement execute function platen.note_job_names();

create function platen.note_moved_job_name() returns trigger language plpgsql as $$
begin
  insert into platen.job_names values (new.tenant_id, 'printer', new.printer_id, new.printer_name) on conflict do nothing;
  return null;
end $$;
create trigger note_moved_job_name after update of printer_id, printer_name on platen.jobs
  for each row execute function platen.note_moved_job_name();

-- Jobs whose trace is to be told, where an endpoint for traces is set: a row is there from the acceptance to the telling.
-- `trace`, `span` and `parent` are as in W3C Trace Context, `span` is the request's. `taken_at`, `sent_at` (the first label)
-- and `said_at` (the last report) are by the agent's clock. `due_at`: when it is told next; null: the job has not ended.
create table platen.job_traces (
  job_id uuid primary key references platen.jobs (id) on delete cascade,
  trace text not null,
  span text not null,
  parent text,
  began_at timestamptz not null,
  answered_at timestamptz not null,
  taken_at timestamptz,
  sent_at timestamptz,
  said_at timestamptz,
  due_at timestamptz,
  tries integer not null default 0
);
create index job_traces_due on platen.job_traces (due_at) where due_at is not null;

-- === Acceptance, lanes and reports ===

-- Stands for all that the choice of a printer depends on: what agents say of the printer with this ID and of those with this
-- name, and whether they are virtual; what the tenant may not use is as if it were not there. Whether an agent is heard of is
-- left out: that changes with time alone. What people call a printer counts as its name for those who ask for it. A job is
-- routed anew when its printer was set otherwise since it was looked up.
create function platen.route_stamp(tenant text, printer text, printer_name text) returns text
language sql stable as $$
  select hashtextextended(coalesce(string_agg(concat_ws(E'\x1f', a.id, coalesce(a.tenant_id, ''), p.printer_id, p.name,
    coalesce(s.display_name, ''), coalesce(s.print_settings::text, ''), p.formats::text, p.gone_at is null,
    exists (select from platen.virtual_printers v where v.agent_id = p.agent_id and v.uri = p.uri)),
    E'\x1e' order by p.agent_id, p.printer_id), ''), 0)::text
  from platen.agent_printers p join platen.agents a on a.id = p.agent_id
  left join platen.lane_settings s on s.lane = coalesce(a.tenant_id || '/', '') || p.printer_id
  where platen.may_use(tenant, a.tenant_id, s.granted_to)
    and p.printer_id in (select printer
      union all select n.printer_id from platen.agent_printers n where n.name = printer_name
      union all select substring(l.lane from '[^/]*$') from platen.lane_settings l where l.display_name = printer_name)
$$;

-- What a request refers to is kept by the instances. The stamps tell, inside the statement that accepts, whether what was
-- kept is still what is stored. A job with printer commands is accepted only where its tenant may send them now: also a job
-- that is printed again, and one for which everything was looked up just before. A job comes to a shared printer only where
-- its tenant may use it now. Where the lanes are in this database, a job comes into its lane with the same commit.
--
-- Accepts jobs of one tenant, each for itself, and says in their order what became of each:
--   accepted      key, quota and job are written
--   replayed      the key was used for the same request: its answer
--   reused        the key was used for another request
--   quota         the month's quota does not suffice: `labels` are allowed, `used` are used
--   stale         template, printer, its grants or the tenant have changed since they were looked up
--   revoked       the service account was revoked
--   tenant-gone   there is no such tenant
-- `is_test`: all of the jobs are. A test key may send nothing else and nobody else may send them with it (`revoked`), they go
-- to virtual printers (else `stale`: it was one when it was looked up), and take from the quota of tests.
-- Locks are taken in one order (the tenant, keys by their name, the month's labels), so that instances that accept at
-- once wait for each other in one direction only.
create function platen.accept_jobs(tenant text, asked json, payloads text[], keys_kept interval, in_lanes boolean, is_test boolean)
returns json
language plpgsql as $$
declare
  quota bigint;
  printer_commands boolean;
  must_fit boolean;
  search_key bytea;
  job record;
  before record;
  outcomes json[];
  accepted boolean[] := array_fill(false, array[json_array_length(asked)]);
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
  -- Jobs of a tenant without a limit do not wait for each other: their labels are counted in several rows.
  counted_in smallint := 0;
  wanted bigint := 0;
  taken bigint := 0;
  used bigint;
  ids text[];
  of_lanes text[];
begin
  outcomes := array_fill(null::json, array[json_array_length(asked)]);
  select case when is_test then t.test_labels else t.quota_labels end, t.printer_commands, t.media_must_fit, t.search_key
      into quota, printer_commands, must_fit, search_key
    from platen.tenants t where t.id = tenant for key share;
  if not found then
    return (select json_agg(json_build_object('outcome', 'tenant-gone')) from json_array_elements(asked));
  end if;
  if quota is null then counted_in := floor(random() * 16); end if;

  for job in
    select r.* from json_to_recordset(asked) as r(n integer, id uuid, "apiKey" text, key text, "bodyHash" text, answer json,
      labels bigint, "printerCommands" boolean, template text, "templateStamp" text, "printerId" text, "printerName" text,
      "routeStamp" text, "mediaMustFit" boolean, scope text, printer text)
    order by r.key, r.n
  loop
    if job."apiKey" is not null and not exists (select from platen.integrations i
        where i.api_key = job."apiKey" and i.tenant_id = tenant and i.test = is_test and i.revoked_at is null) then
      outcomes[job.n] := json_build_object('outcome', 'revoked');
    elsif (job."printerCommands" and not printer_commands) or job."templateStamp" is not null and (job."printerCommands" <> printer_commands
        or job."mediaMustFit" <> must_fit
        or not exists (select from platen.templates t
          where t.tenant_id = tenant and t.id = job.template and t.xmin::text = job."templateStamp")
        or platen.route_stamp(tenant, job."printerId", job."printerName") <> job."routeStamp")
        or is_test and not platen.only_virtual(job.scope, job.printer)
        or job.scope is null and not platen.may_use(tenant, null,
          (select l.granted_to from platen.lane_settings l where l.lane = job.printer)) then
      outcomes[job.n] := json_build_object('outcome', 'stale');
    else
      if job.key is not null then
        -- Waits for whoever is about to take the same key.
        insert into platen.idempotency_keys as k (tenant_id, key, body_hash, job_id, response)
          values (tenant, job.key, decode(job."bodyHash", 'hex'), job.id, job.answer)
          on conflict (tenant_id, key) do update set body_hash = excluded.body_hash, job_id = excluded.job_id,
            response = excluded.response, created_at = now()
          where k.created_at <= now() - keys_kept;
        if not found then
          select k.body_hash = decode(job."bodyHash", 'hex') as same, k.job_id, k.response into before
            from platen.idempotency_keys k where k.tenant_id = tenant and k.key = job.key;
          -- Not there: it was deleted just now, at the end of its time.
          outcomes[job.n] := case when before.same is null then json_build_object('outcome', 'stale')
            when not before.same then json_build_object('outcome', 'reused')
            else json_build_object('outcome', 'replayed', 'jobId', before.job_id, 'answer', before.response) end;
          continue;
        end if;
      end if;
      accepted[job.n] := true;
      wanted := wanted + job.labels;
    end if;
  end loop;

  if wanted > 0 then
    insert into platen.usage as u (tenant_id, month, test, shard, labels) values (tenant, this_month, is_test, counted_in, wanted)
      on conflict (tenant_id, month, test, shard) do update set labels = u.labels + excluded.labels;
    if quota is not null then
      -- Under the lock of that row this sees all that others have taken, and our own.
      select sum(u.labels) - wanted into used from platen.usage u where u.tenant_id = tenant and u.month = this_month and u.test = is_test;
      for job in
        select r.* from json_to_recordset(asked) as r(n integer, id uuid, key text, labels bigint)
        where accepted[r.n] order by r.n
      loop
        if used + taken + job.labels <= quota then
          taken := taken + job.labels;
        else
          accepted[job.n] := false;
          outcomes[job.n] := json_build_object('outcome', 'quota', 'labels', quota, 'used', used + taken);
          delete from platen.idempotency_keys k where k.tenant_id = tenant and k.key = job.key and k.job_id = job.id;
        end if;
      end loop;
      if taken < wanted then
        update platen.usage u set labels = u.labels - (wanted - taken)
          where u.tenant_id = tenant and u.month = this_month and u.test = is_test and u.shard = counted_in;
      end if;
    end if;
  end if;

  with added as (
    insert into platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name,
        requested_printer, format, orientation, copies, records, payload, created_at, scope, dispatched_at, template_hash,
        first_value, test)
      select r.id, tenant, r.account, r.template, r."templateName", r.printer, r."calledPrinter", r."askedPrinter", r.format,
        r.orientation, r.copies, r.records, payloads[r.n]::json, r."createdAt", r.scope, case when in_lanes then now() end,
        decode(r."templateHash", 'hex'), r."firstValue", is_test
      from json_to_recordset(asked) as r(n integer, id uuid, account text, template text, "templateName" text, printer text,
        "calledPrinter" text, "askedPrinter" text, format text, orientation text, copies integer, records integer,
        "createdAt" timestamptz, scope text, "templateHash" text, "firstValue" text)
      where accepted[r.n] order by r.n
    returning platen.jobs.id, platen.jobs.lane, platen.jobs.seq
  )
  select array_agg(added.id::text order by added.seq), array_agg(added.lane order by added.seq) into ids, of_lanes from added;
  insert into platen.job_values (tenant_id, mark, created_at, job_id)
    select tenant, platen.value_mark(search_key, v.value), r."createdAt", r.id
    from json_to_recordset(asked) as r(n integer, id uuid, "createdAt" timestamptz, "values" json)
    cross join json_array_elements_text(r."values") as v(value)
    where accepted[r.n] order by 1, 2, 3, 4
    on conflict do nothing;
  if in_lanes and ids is not null then
    perform lanes.add(ids, of_lanes, null);
  end if;
  return (select json_agg(coalesce(o.outcome, json_build_object('outcome', 'accepted')) order by o.n)
    from unnest(outcomes) with ordinality as o(outcome, n));
end
$$;

-- Adds what is not in its lane to it, in the order of acceptance; with the commit it is there.
create function platen.enter_lane(of_lane text) returns integer
language plpgsql as $$
declare
  ids text[];
  rounds text[];
begin
  select array_agg(due.id order by due.seq),
      array_agg(due.id || case when due.round > 0 then '.' || due.round else '' end order by due.seq) into ids, rounds
    from (select j.id::text as id, j.seq, j.round from platen.jobs j
      where j.lane = of_lane and j.dispatched_at is null and j.status = 'queued' and j.cancel_requested_at is null
      order by j.seq for update) as due;
  if ids is null then
    return 0;
  end if;
  perform lanes.add(rounds, array_fill(of_lane, array[cardinality(ids)]), null);
  update platen.jobs set dispatched_at = now() where id = any(ids::uuid[]);
  return cardinality(ids);
end
$$;

-- Applies reports of jobs, in their order, each as if it were alone, and says of each whether its agent has the job's printer
-- (null: there is no such job) and whether it was applied. `before`: the states from which it may change the job's;
-- `late`: those in which it counts although it is old; `changed`: those in which an agent's word counts at all.
create function platen.apply_job_reports(reports json, changed text[]) returns json
language plpgsql as $$
declare
  report record;
  has boolean;
  results json[] := array_fill(null::json, array[json_array_length(reports)]);
begin
  for report in
    select r.* from json_to_recordset(reports) as r(n integer, job uuid, agent text, printer text, round integer,
      delivery integer, seq integer, status text, before text[], late text[], sent integer, printed integer, reasons text[],
      error json, "from" integer, "to" integer)
    -- By job, so that two services that have reports of the same jobs in hand lock them in one order.
    order by r.job, r.n
  loop
    -- Whether the agent has, or had, the printer in the scope of its lane. One that a person has just approved has its jobs at
    -- once, and the agent's next report of its printers comes later. Of an earlier round it does not matter: the job may have been
    -- elsewhere then.
    select j.round <> report.round or (j.printer_id = report.printer and (exists (
        select from platen.agents a join platen.agent_printers p on p.agent_id = a.id
        where a.id = report.agent and p.printer_id = j.printer_id and a.tenant_id is not distinct from j.scope)
      or exists (
        select from platen.enrolled_agents e join platen.brought_printers b on b.agent_id = e.id
        where e.id = report.agent and b.printer_id = j.printer_id and b.state = 'approved'
          and e.tenant_id is not distinct from j.scope)))
      into has from platen.jobs j where j.id = report.job;
    -- What the printer has counted stays so: an agent that cannot read a job, or does not know what another one did of it,
    -- says less.
    update platen.jobs j set sent = greatest(report.sent, j.printed), printed = greatest(report.printed, j.printed),
        reasons = report.reasons, error = report.error,
        uncertain_from = case when report."from" is null then null else greatest(report."from", j.printed) end,
        uncertain_to = least(report."to", j.records * j.copies), agent_id = report.agent, delivery = report.delivery,
        report_seq = report.seq, updated_at = now(),
        status = case when j.status = any(report.before) then report.status else j.status end,
        dispatched_at = coalesce(j.dispatched_at, now())
      where has and j.id = report.job and j.round = report.round and j.status = any(changed)
        and ((j.delivery, j.report_seq) < (report.delivery, report.seq) or j.status = any(report.late));
    results[report.n + 1] := json_build_object('has', has, 'applied', found);
  end loop;
  return array_to_json(results);
end
$$;

-- The payload with its template.
create function platen.whole_payload(of_tenant text, template_hash bytea, payload json) returns json
language sql stable as $$
  select case when payload is null or template_hash is null then payload else (
    select concat('{"template":', t.template::text, ',', substring(payload::text from 2))::json
    from platen.job_templates t where t.tenant_id = of_tenant and t.hash = template_hash) end
$$;

-- For the lanes: what an agent gets of a job that waits there under this name, the name of its template (`<tenant>/<hash>`),
-- and whether the job is still to be printed under this name.
create function platen.queued_job(queue_id text) returns table (payload text, template text, under_way boolean)
language sql stable as $$
  select j.payload::text, j.tenant_id || '/' || encode(j.template_hash, 'hex'), j.status in ('queued', 'printing')
    and j.id || case when j.round > 0 then '.' || j.round else '' end = queue_id
  from platen.jobs j where j.id = split_part(queue_id, '.', 1)::uuid
$$;

-- For the lanes: the templates with these names.
create function platen.templates_of_jobs(names text[]) returns table (name text, template json)
language sql stable as $$
  select w.name, t.template
  from (select name, split_part(name, '/', 1) as tenant, split_part(name, '/', 2) as hash from unnest(names) as name) as w
  join platen.job_templates t on t.tenant_id = w.tenant and t.hash = decode(w.hash, 'hex')
$$;

-- === Webhooks and alerts ===

-- Where a tenant's events are sent (Standard Webhooks). Alerts go to people as webhooks' messages go to systems: the same
-- outbox, other forms. Secrets are sealed as those of `signing_keys`; the old one signs too until its end. `failing_since`: no
-- event has arrived since then. Disabled: nothing is sent, and why.
create table platen.webhooks (
  id uuid primary key,
  tenant_id text not null references platen.tenants (id) on delete cascade,
  -- `signed` is a webhook by Standard Webhooks; `mail`, `chat` and `teams` are receivers of alerts. Of those `sealed` has the
  -- address itself, since whoever has a chat's address may write there, and `url` what of it may be shown.
  form text not null default 'signed' constraint webhooks_form check (form in ('signed', 'mail', 'chat', 'teams')),
  url text not null,
  events text[] not null,
  sealed text not null,
  old_sealed text,
  old_ends_at timestamptz,
  -- Of a receiver of alerts: what lasts as long is told, and the hours in which nothing is.
  minutes integer,
  quiet json,
  created_at timestamptz not null default now(),
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_why text
);
create index webhooks_tenant on platen.webhooks (tenant_id, created_at);

-- What is to be sent, and what became of it: its ID is the message's for good. `job`: the job's row when the event happened,
-- without its data; `printer`: the printer as it was then; `alert`: that something began, or that all of it is over; none of
-- them: a test. `due_at`: when it is tried next; whoever tries it moves this on first, so that nobody else does. Null: it has
-- arrived, or was given up.
create table platen.webhook_messages (
  id uuid primary key default gen_random_uuid(),
  webhook_id uuid not null references platen.webhooks (id) on delete cascade,
  event text not null,
  job json,
  printer json,
  alert json,
  at timestamptz not null default clock_timestamp(),
  due_at timestamptz default now(),
  attempts integer not null default 0,
  arrived_at timestamptz
);
create index webhook_messages_due on platen.webhook_messages (webhook_id, due_at) where due_at is not null;
create index webhook_messages_undelivered on platen.webhook_messages (webhook_id, at) where due_at is not null;
create index webhook_messages_newest on platen.webhook_messages (webhook_id, at desc, id desc);
create index webhook_messages_age on platen.webhook_messages (at);

-- What the endpoint answered, each time: the beginning of its body, or why there was no answer.
create table platen.webhook_attempts (
  message_id uuid not null references platen.webhook_messages (id) on delete cascade,
  at timestamptz not null default clock_timestamp(),
  ms integer not null,
  status integer,
  answer text not null,
  primary key (message_id, at)
);

-- Events are written with the change itself: neither is there without the other.
create function platen.note_webhook_event() returns trigger language plpgsql as $$
begin
  insert into platen.webhook_messages (webhook_id, event, job)
    select w.id, 'job.' || new.status, json_build_object('id', new.id, 'tenant_id', new.tenant_id,
      'template_id', new.template_id, 'template_name', new.template_name, 'printer_id', new.printer_id,
      'printer_name', new.printer_name, 'format', new.format, 'orientation', new.orientation, 'copies', new.copies,
      'records', new.records, 'status', new.status, 'sent', new.sent, 'printed', new.printed, 'reasons', new.reasons,
      'error', new.error, 'uncertain_from', new.uncertain_from, 'uncertain_to', new.uncertain_to,
      'test', new.test, 'created_at', new.created_at, 'updated_at', new.updated_at)
    from platen.webhooks w
    where w.tenant_id = new.tenant_id and w.disabled_at is null and 'job.' || new.status = any(w.events);
  return null;
end $$;
create trigger note_webhook_event after update on platen.jobs for each row
  when (new.status in ('printed', 'failed', 'held', 'canceled')
    and (old.status is distinct from new.status or old.round is distinct from new.round))
  execute function platen.note_webhook_event();

-- Printers that need somebody, by their lane; the others have no row.
create table platen.printer_attention (
  lane text primary key,
  since timestamptz not null default now()
);

-- Of several agents the newest word counts of those that know how the printer is; that it is not reached counts where no agent
-- reaches it. Agents that are not heard of (`HEARTBEAT_LOST`) do not count, but for the one that reports. Of a shared printer
-- each tenant that may use it is told, unless it has a printer of its own with this ID.
create function platen.note_printer_event() returns trigger language plpgsql as $$
declare
  of_scope text;
  of_lane text;
  printer record;
  event text;
begin
  select a.tenant_id into of_scope from platen.agents a where a.id = new.agent_id;
  of_lane := coalesce(of_scope || '/', '') || new.printer_id;
  -- Two agents that report at once would not see each other's word.
  if exists (select from platen.agent_printers p join platen.agents a on a.id = p.agent_id
      where p.printer_id = new.printer_id and p.agent_id <> new.agent_id and a.tenant_id is not distinct from of_scope) then
    perform pg_advisory_xact_lock(hashtextextended('platen.attention ' || coalesce(of_scope, ''), 0));
  end if;
  select p.name, p.state, p.reasons, p.state = 'stopped' or 'offline' = any(p.reasons) as needs_somebody into printer
    from platen.agent_printers p join platen.agents a on a.id = p.agent_id
    where p.printer_id = new.printer_id and a.tenant_id is not distinct from of_scope and p.gone_at is null
      and (a.id = new.agent_id or a.online and a.seen_at > now() - interval '45 seconds')
    order by (p.state = 'unknown')::int + ('offline' = any(p.reasons))::int, p.since desc limit 1;
  if not found then
    return null;
  end if;
  if printer.needs_somebody then
    event := 'printer.attention';
    insert into platen.printer_attention (lane) values (of_lane) on conflict do nothing;
  else
    event := 'printer.ready';
    delete from platen.printer_attention where lane = of_lane;
  end if;
  if found then
    insert into platen.webhook_messages (webhook_id, event, printer)
      select w.id, event, json_build_object('id', new.printer_id, 'name', coalesce(s.display_name, printer.name),
        'status', printer.state, 'reasons', printer.reasons)
      from platen.webhooks w left join platen.lane_settings s on s.lane = of_lane
      where w.disabled_at is null and event = any(w.events) and not coalesce(s.hidden, false)
        and platen.may_use(w.tenant_id, of_scope, s.granted_to) and (of_scope is not null or not exists (
          select from platen.agent_printers p join platen.agents a on a.id = p.agent_id
          where p.printer_id = new.printer_id and p.gone_at is null and a.tenant_id = w.tenant_id));
  end if;
  return null;
end $$;
create trigger note_new_printer_event after insert on platen.agent_printers for each row
  when (new.state = 'stopped' or 'offline' = any(new.reasons)) execute function platen.note_printer_event();
create trigger note_printer_event after update on platen.agent_printers for each row
  when (old.state is distinct from new.state or old.reasons is distinct from new.reasons
    or old.gone_at is distinct from new.gone_at)
  execute function platen.note_printer_event();

create function platen.forget_printer_attention() returns trigger language plpgsql as $$
begin
  delete from platen.printer_attention t using platen.agents a
    where a.id = old.agent_id and t.lane = coalesce(a.tenant_id || '/', '') || old.printer_id
      and not exists (select from platen.agent_printers p join platen.agents o on o.id = p.agent_id
        where p.printer_id = old.printer_id and o.tenant_id is not distinct from a.tenant_id);
  return null;
end $$;
create trigger forget_printer_attention after delete on platen.agent_printers for each row
  execute function platen.forget_printer_attention();

-- What a receiver was told of and what is not over yet. `message`: the one that told of it. `over`: it is, but something
-- else in that message is not.
create table platen.alerts (
  webhook_id uuid not null references platen.webhooks (id) on delete cascade,
  kind text not null,
  subject text not null,
  item json not null,
  message uuid not null,
  over boolean not null default false,
  primary key (webhook_id, kind, subject)
);

-- What the service's https address last showed, as any instance has seen it.
create table platen.certificates (
  host text primary key,
  starts_at timestamptz not null,
  ends_at timestamptz not null
);

-- === IPP ===

-- Jobs that came by IPP, by their integers, and what the job itself does not have. Without a job the document is still to
-- come, or never came: it was canceled meanwhile, or refused.
create table platen.ipp_jobs (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  number integer not null,
  printer_id text not null,
  test boolean not null,
  name text,
  sender text,
  ticket json not null,
  octets integer not null default 0,
  ended text check (ended in ('canceled', 'aborted')),
  message text,
  created_at timestamptz not null default now(),
  job_id uuid unique references platen.jobs (id) on delete cascade,
  primary key (tenant_id, number)
);
create index ipp_jobs_by_printer on platen.ipp_jobs (tenant_id, printer_id, number);
create index ipp_jobs_without_document on platen.ipp_jobs (tenant_id, created_at) where job_id is null;

-- Names are personal data: they go with the job's.
create function platen.forget_ipp_words() returns trigger language plpgsql as $$
begin
  update platen.ipp_jobs set name = null, sender = null where job_id = new.id;
  return null;
end $$;
create trigger forget_ipp_words after update of payload on platen.jobs for each row
  when (old.payload is not null and new.payload is null) execute function platen.forget_ipp_words();

-- === PrintNode's interface ===

-- It knows everything by an integer, counted in each tenant by itself, so that nobody sees how much others print.
create table platen.printnode_counters (
  tenant_id text primary key references platen.tenants (id) on delete cascade,
  last integer not null
);

-- The numbers of printers and agents, by their IDs; `account` is the tenant's own.
create table platen.printnode_numbers (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  kind text not null check (kind in ('account', 'computer', 'printer')),
  name text not null,
  number integer not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, kind, name),
  unique (tenant_id, number)
);

-- What such a caller said of a job that the job itself does not have. `settled`: the time until which it may wait has come,
-- and the job was over, was printing, or was canceled for that reason (`expired`).
create table platen.printnode_jobs (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  number integer not null,
  job_id uuid not null unique references platen.jobs (id) on delete cascade,
  title text,
  source text,
  content_type text not null,
  expires_at timestamptz not null,
  settled text check (settled in ('expired', 'over')),
  primary key (tenant_id, number)
);
create index printnode_jobs_expire on platen.printnode_jobs (expires_at) where settled is null;

-- Title and source are label data: they go with the job's.
create function platen.forget_printnode_words() returns trigger language plpgsql as $$
begin
  update platen.printnode_jobs set title = null, source = null where job_id = new.id;
  return null;
end $$;
create trigger forget_printnode_words after update of payload on platen.jobs for each row
  when (old.payload is not null and new.payload is null) execute function platen.forget_printnode_words();
