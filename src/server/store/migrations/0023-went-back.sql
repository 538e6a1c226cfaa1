-- What an agent says of the last update of its machine, where that did not come up: its version, and when it was.
alter table platen.agents add went_back json;
