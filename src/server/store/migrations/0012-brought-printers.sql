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

-- Whether every printer that the agent brings waits for a person.
alter table platen.agent_invitations add column approve boolean not null default false;
-- `decided` counts what people have decided about the agent's printers: whoever has the agent reads them anew.
alter table platen.enrolled_agents
  add column approve boolean not null default false,
  add column decided integer not null default 0;
