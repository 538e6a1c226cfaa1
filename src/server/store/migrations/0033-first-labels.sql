-- The label with which the job began: those before it are counted as printed, but came out at the printer of `reprint_of`, whose
-- rest the job is.
alter table platen.jobs add column first_label integer not null default 0;
