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
