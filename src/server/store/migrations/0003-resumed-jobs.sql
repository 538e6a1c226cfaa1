-- `round`: how often a person decided about a job that had ended. Reports of earlier rounds are history.
alter table platen.jobs add column round integer not null default 0;
