-- PrintNode's interface knows everything by an integer, counted in each tenant by itself, so that nobody sees how much others print.
create table platen.printnode_counters (
  tenant_id text primary key references platen.tenants (id) on delete cascade,
  last integer not null
);

-- The numbers of printers and agents, by their IDs; `account` is the tenant's own.
create table platen.printnode_numbers (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  kind text not null check (kind in ('account', 'computer', 'printer')),
  name text not null,
  number integer not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, kind, name),
  unique (tenant_id, number)
);

-- What such a caller said of a job that the job itself does not have. `settled`: the time until which it may wait has come, and the job
-- was over, was printing, or was canceled for that reason (`expired`).
create table platen.printnode_jobs (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  number integer not null,
  job_id uuid not null unique references platen.jobs (id) on delete cascade,
  title text,
  source text,
  content_type text not null,
  expires_at timestamptz not null,
  settled text check (settled in ('expired', 'over')),
  primary key (tenant_id, number)
);
create index printnode_jobs_expire on platen.printnode_jobs (expires_at) where settled is null;

-- Title and source are label data: they go with the job's.
create function platen.forget_printnode_words() returns trigger language plpgsql as $$
begin
  update platen.printnode_jobs set title = null, source = null where job_id = new.id;
  return null;
end $$;
create trigger forget_printnode_words after update of payload on platen.jobs for each row
  when (old.payload is not null and new.payload is null) execute function platen.forget_printnode_words();
