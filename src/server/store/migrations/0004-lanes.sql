-- The jobs of one printer wait in a lane of one scope: the tenant of the printer's agent, or null for a shared one.
-- `lane` is what `src/contract/lane.ts` calls it. Jobs of before are for the tenant's own agents where those have the
-- printer, as they are now.
alter table platen.jobs add column scope text;
update platen.jobs as j set scope = j.tenant_id
  where exists (select from platen.agent_printers p join platen.agents a on a.id = p.agent_id
    where p.printer_id = j.printer_id and a.tenant_id = j.tenant_id);
alter table platen.jobs add column lane text not null
  generated always as (coalesce(scope || '/', '') || printer_id) stored;
drop index platen.jobs_undispatched;
create index jobs_undispatched on platen.jobs (lane, seq) where dispatched_at is null and status = 'queued';
