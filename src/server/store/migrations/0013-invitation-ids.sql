-- An invitation's name for those who wait for its agent: the code itself is nobody's but the agent's.
alter table platen.agent_invitations add column id uuid not null default gen_random_uuid();
-- By which invitation the agent has enrolled last.
alter table platen.enrolled_agents add column invitation uuid;
