-- What printers and templates were called when jobs were accepted for them: a list of jobs is asked for by a name that
-- nothing has any more, and must not read every job to find it.
create table platen.job_names (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  kind text not null check (kind in ('printer', 'template')),
  id text not null,
  name text not null,
  primary key (tenant_id, kind, id, name)
);
create index job_names_by_name on platen.job_names (kind, name);

-- Always in one order, so that two who write the same ones wait for each other in one direction only.
create function platen.note_job_names() returns trigger language plpgsql as $$
begin
  insert into platen.job_names
    select distinct tenant_id, 'printer', printer_id, printer_name from made
    union select distinct tenant_id, 'template', template_id, template_name from made
    order by 1, 2, 3, 4
    on conflict do nothing;
  return null;
end $$;
create trigger note_job_names after insert on platen.jobs referencing new table as made
  for each statement execute function platen.note_job_names();

create function platen.note_moved_job_name() returns trigger language plpgsql as $$
begin
  insert into platen.job_names values (new.tenant_id, 'printer', new.printer_id, new.printer_name) on conflict do nothing;
  return null;
end $$;
create trigger note_moved_job_name after update of printer_id, printer_name on platen.jobs
  for each row execute function platen.note_moved_job_name();

insert into platen.job_names
  select distinct tenant_id, 'printer', printer_id, printer_name from platen.jobs
  union select distinct tenant_id, 'template', template_id, template_name from platen.jobs;
