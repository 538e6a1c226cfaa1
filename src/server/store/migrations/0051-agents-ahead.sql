-- When an agent last came with a state that is newer than this database, which had been restored, then, to an earlier time.
alter table platen.enrolled_agents add column ahead_at timestamptz;
