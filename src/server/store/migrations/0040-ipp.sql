-- Printers as IPP offers them. What a printer says of itself is told without a key at an address with this UUID, which nobody guesses.
create table platen.ipp_printers (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  printer_id text not null,
  uuid uuid not null unique default gen_random_uuid(),
  created_at timestamptz not null default now(),
  primary key (tenant_id, printer_id)
);

-- Jobs that came by IPP, by their integers, and what the job itself does not have. Without a job the document is still to come, or
-- never came: it was canceled meanwhile, or refused.
create table platen.ipp_jobs (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  number integer not null,
  printer_id text not null,
  test boolean not null,
  name text,
  sender text,
  ticket json not null,
  octets integer not null default 0,
  ended text check (ended in ('canceled', 'aborted')),
  message text,
  created_at timestamptz not null default now(),
  job_id uuid unique references platen.jobs (id) on delete cascade,
  primary key (tenant_id, number)
);
create index ipp_jobs_by_printer on platen.ipp_jobs (tenant_id, printer_id, number);
create index ipp_jobs_without_document on platen.ipp_jobs (tenant_id, created_at) where job_id is null;

-- Names are personal data: they go with the job's.
create function platen.forget_ipp_words() returns trigger language plpgsql as $$
begin
  update platen.ipp_jobs set name = null, sender = null where job_id = new.id;
  return null;
end $$;
create trigger forget_ipp_words after update of payload on platen.jobs for each row
  when (old.payload is not null and new.payload is null) execute function platen.forget_ipp_words();
