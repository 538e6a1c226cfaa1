-- A printer that people do not want to see where they choose one: jobs that name it are printed all the same.
alter table platen.lane_settings add column hidden boolean not null default false;
