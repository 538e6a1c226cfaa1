-- How it becomes known that a label of the printer is out, and the addresses that an agent's configuration names where
-- nothing was ever reached: what the agent says.
alter table platen.agent_printers add column confirmed_by text;
alter table platen.agents add column unreached json not null default '[]';
