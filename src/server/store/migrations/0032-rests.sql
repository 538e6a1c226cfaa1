-- The job is what was left of the job `reprint_of`, which was moved to another printer; otherwise it prints labels of that
-- job again.
alter table platen.jobs add column is_rest boolean not null default false;
update platen.jobs j set is_rest = true
  from platen.idempotency_keys k
  where k.job_id = j.id and k.tenant_id = j.tenant_id and k.key = 'move-' || j.reprint_of;
