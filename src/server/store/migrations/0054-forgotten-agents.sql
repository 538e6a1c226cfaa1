-- A person has taken a revoked agent off the list. The row stays, and keeps the agent out.
alter table platen.enrolled_agents add column forgotten_at timestamptz;
