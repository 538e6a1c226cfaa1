-- The sweep asks the queue about jobs that are being printed, too.
create index jobs_unfinished on platen.jobs (seq) where status in ('queued', 'printing');
drop index platen.jobs_waiting;
