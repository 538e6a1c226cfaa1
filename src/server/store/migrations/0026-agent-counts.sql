-- What an enrolled agent counts of itself, by its last heartbeat.
alter table platen.agents add counts json;
