-- What an agent understands that agents of versions before do not, by what it says itself.
alter table platen.agents add column knows text[] not null default '{}';
