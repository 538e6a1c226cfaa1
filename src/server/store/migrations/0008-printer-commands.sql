-- Whether a tenant's raw templates may set printers up: an administrator's decision, for printers are often shared.
alter table platen.tenants add column printer_commands boolean not null default false;
