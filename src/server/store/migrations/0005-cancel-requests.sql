-- When a person asked for a job to be canceled that an agent had taken; until the agent has answered and its mark in the
-- queue's store is gone.
alter table platen.jobs add column cancel_requested_at timestamptz;
create index jobs_cancel_requested on platen.jobs (seq) where cancel_requested_at is not null;
