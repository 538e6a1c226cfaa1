-- The states of a job, as `src/contract/job-life.ts` has them (a test compares). A state that is new there needs a
-- migration that replaces this constraint.
alter table platen.jobs add constraint jobs_status
  check (status in ('queued', 'printing', 'printed', 'failed', 'canceled', 'held'));
