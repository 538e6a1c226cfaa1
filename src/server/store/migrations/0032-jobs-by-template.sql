-- With the printer beside it, what a template never printed at a printer is known from the index, and no job is read.
drop index platen.jobs_by_template;
create index jobs_by_template on platen.jobs (tenant_id, template_id, created_at desc, id desc) include (printer_id);
