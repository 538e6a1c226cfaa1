-- What an operator looks for: the newest jobs of a tenant, in one state, of one printer, template or account, page by
-- page. A deployment's list is merged from its tenants'.
create index jobs_of_tenant on platen.jobs (tenant_id, created_at desc, id desc);
create index jobs_by_status on platen.jobs (tenant_id, status, created_at desc, id desc);
create index jobs_by_printer on platen.jobs (tenant_id, printer_id, created_at desc, id desc);
create index jobs_by_template on platen.jobs (tenant_id, template_id, created_at desc, id desc);
create index jobs_by_account on platen.jobs (tenant_id, account, created_at desc, id desc);
drop index platen.jobs_tenant;
drop index platen.jobs_newest;
-- What waits in a lane, is printed there, or waits for a person.
create index jobs_in_lane on platen.jobs (lane, status, seq) where status in ('queued', 'printing', 'held');

-- What happened to a job, for its time line; that it was accepted, its row says. `events`: how many there were.
create table platen.job_events (
  job_id uuid not null references platen.jobs (id) on delete cascade,
  number integer not null,
  at timestamptz not null default clock_timestamp(),
  kind text not null,
  sent integer not null,
  printed integer not null,
  reasons text[] not null,
  error json,
  uncertain_from integer,
  uncertain_to integer,
  printer_id text not null,
  printer_name text not null,
  who text,
  why text,
  primary key (job_id, number)
);
alter table platen.jobs add column events integer not null default 0;

-- Written by the database itself, so that no statement that changes a job can forget it. Who decides says so in
-- `platen.who` and `platen.why`, for the transaction. A printer that goes to and fro writes no endless history.
create function platen.note_job_event() returns trigger language plpgsql as $$
declare
  kind text := (case
    when (new.printer_id, new.scope) is distinct from (old.printer_id, old.scope) then 'moved'
    when (new.status, new.round) is distinct from (old.status, old.round) then new.status
    when new.cancel_requested_at is not null and old.cancel_requested_at is null then 'cancel-requested'
    when new.reasons is distinct from old.reasons then 'waits'
  end);
begin
  if kind is null or old.events >= (case kind when 'waits' then 400 else 2000 end) then
    return new;
  end if;
  new.events := old.events + 1;
  insert into platen.job_events (job_id, number, kind, sent, printed, reasons, error, uncertain_from, uncertain_to,
    printer_id, printer_name, who, why)
  values (new.id, new.events, kind, new.sent, new.printed, new.reasons, new.error, new.uncertain_from,
    new.uncertain_to, new.printer_id, new.printer_name, nullif(current_setting('platen.who', true), ''),
    nullif(current_setting('platen.why', true), ''));
  return new;
end $$;
create trigger note_job_event before update on platen.jobs for each row
  when (old.status is distinct from new.status or old.round is distinct from new.round
    or old.reasons is distinct from new.reasons or old.printer_id is distinct from new.printer_id
    or old.scope is distinct from new.scope or old.cancel_requested_at is distinct from new.cancel_requested_at)
  execute function platen.note_job_event();

-- The job whose labels this one prints again.
alter table platen.jobs add column reprint_of uuid;
create index jobs_reprints on platen.jobs (reprint_of) where reprint_of is not null;

-- Label data of jobs that are over is kept for a while, for pictures and reprints.
create index jobs_with_data on platen.jobs (updated_at)
  where payload is not null and status in ('printed', 'canceled', 'failed');

-- What people have set for a printer, by its lane. Held: its jobs wait.
create table platen.lane_settings (
  lane text primary key,
  display_name text,
  held_by text,
  held_at timestamptz,
  held_why text
);
create index lane_settings_name on platen.lane_settings (display_name) where display_name is not null;

-- Since when a printer is in its state, with its reasons.
alter table platen.agent_printers add column since timestamptz not null default now();
create function platen.note_printer_state() returns trigger language plpgsql as $$
begin
  new.since := now();
  return new;
end $$;
create trigger note_printer_state before update on platen.agent_printers for each row
  when (old.state is distinct from new.state or old.reasons is distinct from new.reasons)
  execute function platen.note_printer_state();
