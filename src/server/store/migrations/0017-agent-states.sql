-- Each time that an agent joins it is given a state with a number, and keeps it beside its journal. `seq` is the number that
-- it has said it keeps, `pending` the one that it was given since: who comes with an older one is a copy, or was restored.
-- `let_in`: a person lets it in all the same, once.
alter table platen.enrolled_agents
  add column seq integer not null default 0,
  add column pending integer,
  add column let_in boolean not null default false;
