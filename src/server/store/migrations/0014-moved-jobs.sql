-- In a job's history, that it was moved names the printer that it left: where it came to, what follows says.
create or replace function platen.note_job_event() returns trigger language plpgsql as $$
declare
  moved boolean := (new.printer_id, new.scope) is distinct from (old.printer_id, old.scope);
  kind text := (case
    when moved then 'moved'
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
    new.uncertain_to, case when moved then old.printer_id else new.printer_id end,
    case when moved then old.printer_name else new.printer_name end,
    nullif(current_setting('platen.who', true), ''), nullif(current_setting('platen.why', true), ''));
  return new;
end $$;
