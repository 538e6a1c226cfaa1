-- Agents at other sites. A code is kept as its hash. `agent_id` and `public_key`: who used it, for the agent whose answer was
-- lost.
create table platen.agent_invitations (
  code_hash bytea primary key,
  tenant_id text references platen.tenants (id) on delete cascade,
  name text not null,
  expires_at timestamptz not null,
  agent_id text,
  public_key text,
  used_at timestamptz
);

-- What is known of each agent that has enrolled, whether it was ever heard of or not. `origin`: where it reaches the service,
-- which it signs when it joins.
create table platen.enrolled_agents (
  id text primary key,
  tenant_id text references platen.tenants (id) on delete cascade,
  name text not null,
  public_key text not null,
  origin text not null,
  enrolled_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index enrolled_agents_tenant on platen.enrolled_agents (tenant_id);
create index agent_invitations_tenant on platen.agent_invitations (tenant_id);
