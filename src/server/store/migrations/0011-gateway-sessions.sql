-- Which process of an agent is connected to an instance, by which connection (`session`, random), and since when; null: none
-- is. While it was heard of lately, no other process of the agent joins any instance: the data directory was copied.
alter table platen.enrolled_agents
  add column process text,
  add column session text,
  add column joined_at timestamptz,
  add column heard_at timestamptz,
  -- Why the agent was last refused, as a code of the protocol, and when.
  add column refused text,
  add column refused_at timestamptz;
