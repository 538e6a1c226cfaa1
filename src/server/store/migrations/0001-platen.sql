-- A deployment's customers. `quota_labels`: labels per calendar month (UTC); null: no limit.
create table platen.tenants (
  id text primary key,
  name text not null,
  quota_labels bigint check (quota_labels >= 0),
  created_at timestamptz not null default now()
);

-- Labels taken from the quota. Several rows (shards) for one month, so that the jobs of a tenant without a limit
-- do not wait for each other's commit; a tenant with a limit counts under the lock of shard 0.
create table platen.usage (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  month date not null,
  shard smallint not null,
  labels bigint not null,
  primary key (tenant_id, month, shard)
);

-- Service accounts. The secret is kept only as a slow hash.
create table platen.integrations (
  api_key text primary key,
  tenant_id text not null references platen.tenants (id) on delete cascade,
  name text not null,
  scope text[] not null,
  secret_hash text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index integrations_tenant on platen.integrations (tenant_id);

-- Keys that sign access tokens, shared by all instances.
create table platen.signing_keys (
  kid text primary key,
  private_jwk json not null,
  public_jwk json not null,
  created_at timestamptz not null default now()
);

-- Failed token requests; the layout is rate-limiter-flexible's.
create table platen.token_failures (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

create table platen.templates (
  id text primary key,
  tenant_id text not null references platen.tenants (id) on delete cascade,
  name text not null,
  body json not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, name)
);

-- `reported_at` is the agent's clock and orders its reports, `seen_at` is the database's and says if it is online.
create table platen.agents (
  id text primary key,
  name text not null,
  version text not null,
  tenant_id text,
  online boolean not null,
  reported_at timestamptz not null,
  seen_at timestamptz not null
);

-- What each agent says of each printer. Two agents may tell of one printer; a tenant sees only what its own
-- agents and the shared ones say. `gone_at`: the agent has dropped it.
create table platen.agent_printers (
  agent_id text not null references platen.agents (id) on delete cascade,
  printer_id text not null,
  name text not null,
  uri text not null,
  model text,
  state text not null,
  reasons text[] not null,
  formats json not null,
  gone_at timestamptz,
  primary key (agent_id, printer_id)
);
create index agent_printers_printer on platen.agent_printers (printer_id);
create index agent_printers_name on platen.agent_printers (name);

-- `seq` is the order of acceptance. `payload` is what goes into the queue; it holds label data, and is dropped
-- once it cannot be needed again. `dispatched_at`: when it was added to the queue.
create table platen.jobs (
  id uuid primary key,
  seq bigint generated always as identity,
  tenant_id text not null references platen.tenants (id),
  account text not null,
  template_id text not null,
  template_name text not null,
  printer_id text not null,
  printer_name text not null,
  requested_printer text,
  format text not null,
  orientation text not null,
  copies integer not null,
  records integer not null,
  status text not null default 'queued',
  sent integer not null default 0,
  printed integer not null default 0,
  reasons text[] not null default '{}',
  error json,
  uncertain_from integer,
  uncertain_to integer,
  agent_id text,
  delivery integer not null default 0,
  report_seq integer not null default 0,
  payload json,
  dispatched_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index jobs_undispatched on platen.jobs (printer_id, seq) where dispatched_at is null and status = 'queued';
create index jobs_waiting on platen.jobs (seq) where status = 'queued';
create index jobs_tenant on platen.jobs (tenant_id, seq desc);
create index jobs_newest on platen.jobs (seq desc);

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
