-- Tests that wait are looked through every few seconds: whether a printer that is not virtual has come into their lane.
create index jobs_tests_waiting on platen.jobs (scope, printer_id) where test and status = 'queued';
