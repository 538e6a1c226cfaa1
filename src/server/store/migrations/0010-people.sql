-- People, their sessions and what they did. Roles are those of `src/contract/people.ts` (a test compares). `deployment`:
-- may also do what concerns all tenants. Tokens and passwords are kept as hashes only.
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

-- What was done under `/app`, by whom. It outlives people and tenants, so it refers to neither. `tenant_id` null: it
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
