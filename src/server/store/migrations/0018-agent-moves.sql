-- An agent that is to be another tenant's (`moves_to`, null: every tenant's) once it has finished what it has in hand.
alter table platen.enrolled_agents
  add column moves boolean not null default false,
  add column moves_to text;
