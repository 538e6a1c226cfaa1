-- The number of the state before the first one that an agent was given since it enrolled. Those of an earlier enrolment are below.
alter table platen.enrolled_agents add column enrolled_seq integer not null default 0;
