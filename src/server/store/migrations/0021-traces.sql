-- Jobs whose trace is to be told, where an endpoint for traces is set: a row is there from the acceptance to the telling. `trace`, `span`
-- and `parent` are as in W3C Trace Context, `span` is the request's. `taken_at`, `sent_at` (the first label) and `said_at` (the last
-- report) are by the agent's clock. `due_at`: when it is told next; null: the job has not ended.
create table platen.job_traces (
  job_id uuid primary key references platen.jobs (id) on delete cascade,
  trace text not null,
  span text not null,
  parent text,
  began_at timestamptz not null,
  answered_at timestamptz not null,
  taken_at timestamptz,
  sent_at timestamptz,
  said_at timestamptz,
  due_at timestamptz,
  tries integer not null default 0
);
create index job_traces_due on platen.job_traces (due_at) where due_at is not null;
