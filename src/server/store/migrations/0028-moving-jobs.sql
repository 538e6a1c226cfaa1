-- Where what is left of a job goes once its agent has stopped it; with `refused` it was not taken there, and why.
alter table platen.jobs add column move_to jsonb;
create index jobs_moving on platen.jobs (seq) where move_to is not null;
