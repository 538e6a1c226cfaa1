-- What a printer has left of what it uses up, as its agent last heard it.
alter table platen.agent_printers add supplies json not null default '[]';
