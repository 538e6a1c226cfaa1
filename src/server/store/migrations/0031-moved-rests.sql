-- Labels of the job that usage counts, where those are not all of it: labels that were moved to another printer as a job of
-- their own are counted with that one. Null: all.
alter table platen.jobs add column labels_counted integer;
