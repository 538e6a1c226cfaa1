-- The lanes: jobs that wait for a printer or are printed there, and who serves it. The agent that holds a lane's lease is
-- alone on it and takes its first job that has not ended, whichever agent had that job before: nothing has to be taken back
-- from an agent that died, and no job overtakes another.
--
--   waiting ── taken: `term`, one more delivery ──▶ in hand ── ended ──▶ kept for 48 h, so that it is known
--      ▲                                              │
--      └──── handed back, in its place ───────────────┘
--
-- What an agent says of a job names the lease's term and the job's delivery. It counts only while the lane still has that
-- term and the job that delivery.
--
-- The service's schema `platen` calls the functions here and reads no table. The lanes call one function of the service,
-- `platen.queued_job`. A job has a narrow row here and its payload in the service's row: taking, noting and ending a job
-- writes 1.0 KB of WAL in the narrow row, and 2.0 to 2.4 KB in the wide one with its dozen indexes (measured).
CREATE TABLE lanes.job (
  lane text NOT NULL,
  queue_id text NOT NULL,
  place bigint GENERATED ALWAYS AS IDENTITY,
  -- Null: the service's row of the job has it.
  payload text,
  deliveries integer NOT NULL DEFAULT 0,
  term text,
  note text,
  note_order integer NOT NULL DEFAULT 0,
  ended_at timestamptz,
  PRIMARY KEY (queue_id, lane)
) WITH (fillfactor = 70);
-- A statement that finds a job by its key says `coalesce(ended_at, 'infinity') = 'infinity'`. With `ended_at IS NULL`
-- PostgreSQL could use this index and read all that waits for one job: plans are made while the lanes are empty, and kept.
CREATE UNIQUE INDEX job_order ON lanes.job (lane, place) WHERE ended_at IS NULL;
CREATE INDEX job_ended ON lanes.job (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE lanes.lease (
  lane text PRIMARY KEY,
  agent_id text NOT NULL DEFAULT '',
  term text NOT NULL DEFAULT '',
  until timestamptz NOT NULL DEFAULT '-infinity',
  rival_id text NOT NULL DEFAULT '',
  rival_reaches boolean NOT NULL DEFAULT false,
  rival_until timestamptz NOT NULL DEFAULT '-infinity',
  canceled text[] NOT NULL DEFAULT '{}',
  question bigint NOT NULL DEFAULT 0,
  -- The number under which the term's last job was asked for: what arrives later and has no higher one takes none.
  turn bigint NOT NULL DEFAULT 0,
  -- The places of the jobs that somebody has begun. A job that has ended since stays until the next one is taken.
  begun bigint[] NOT NULL DEFAULT '{}'
);

CREATE TABLE lanes.report (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  json text NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now()
);

-- Adds jobs to their lanes, in this order. One that is known there, in any state, stays as it is.
CREATE FUNCTION lanes.add(ids text[], of_lanes text[], payloads text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO lanes.job (lane, queue_id, payload)
    SELECT a.lane, a.id, a.payload FROM unnest(ids, of_lanes, payloads) WITH ORDINALITY AS a(id, lane, payload, n)
    ORDER BY a.n ON CONFLICT DO NOTHING;
  PERFORM pg_notify('platen_lanes', rung.lane) FROM (SELECT DISTINCT unnest(of_lanes) AS lane) AS rung;
END $$;

-- All that a process has to say at this moment, and the next jobs of its idle lanes: reports, jobs that have ended, jobs
-- that go back to their place, and for each lane in which a job waits, the first. Answers with a row for each job that
-- ended or went back, and for each one taken ('job' with a payload of its own, 'row' with that of the service's row, and
-- the tenant and hash of the template that belongs to it); `at` is the place of what it answers in its list. Jobs that are
-- named as `beside` are in the caller's hands already and are not taken again.
CREATE FUNCTION lanes.turn(names text[], reports text[], ended json, back json, taking json, durable boolean)
  RETURNS TABLE (what text, at integer, id text, delivery integer, its_payload text, its_note text, its_template text)
LANGUAGE plpgsql AS $$
DECLARE
  asked record;
  its_place bigint;
  its_id text;
  first_place bigint;
  first_id text;
  begun_places bigint[];
  latest_in_hand bigint;
  -- It has the lane already, and the job that it found first was not to be printed.
  looked_on boolean;
  under_way boolean;
BEGIN
  IF NOT durable THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  IF cardinality(names) > 0 THEN
    INSERT INTO lanes.report (name, json)
      SELECT r.name, r.json FROM unnest(names, reports) WITH ORDINALITY AS r(name, json, n) ORDER BY r.n;
    PERFORM pg_notify('platen_lanes', '@reports');
  END IF;
  IF ended IS NOT NULL THEN
    FOR asked IN SELECT * FROM json_to_recordset(ended) AS e(at integer, lane text, id text, delivery integer, term text) LOOP
      RETURN QUERY UPDATE lanes.job j SET ended_at = coalesce(j.ended_at, now()), payload = NULL
        WHERE j.queue_id = asked.id AND j.lane = asked.lane AND j.deliveries = asked.delivery AND j.term = asked.term
          AND EXISTS (SELECT FROM lanes.lease l WHERE l.lane = asked.lane AND l.term = asked.term)
        RETURNING 'ended', asked.at, j.queue_id, j.deliveries, NULL::text, NULL::text, NULL::text;
    END LOOP;
  END IF;
  IF back IS NOT NULL THEN
    FOR asked IN SELECT * FROM json_to_recordset(back) AS b(at integer, lane text, id text, delivery integer, term text) LOOP
      RETURN QUERY UPDATE lanes.job j SET term = NULL
        WHERE j.queue_id = asked.id AND j.lane = asked.lane AND j.deliveries = asked.delivery AND j.term = asked.term
          AND coalesce(j.ended_at, 'infinity') = 'infinity' AND EXISTS (SELECT FROM lanes.lease l WHERE l.lane = asked.lane AND l.term = asked.term)
        RETURNING 'back', asked.at, j.queue_id, j.deliveries, NULL::text, NULL::text, NULL::text;
    END LOOP;
  END IF;
  -- In the order in which leases are asked for, so that two do not wait for each other.
  FOR asked IN SELECT t.at, t.lane, t.term, t.number, coalesce(t.beside, '{}') AS beside
    FROM json_to_recordset(taking) AS t(at integer, lane text, term text, number bigint, beside text[]) ORDER BY t.lane LOOP
    looked_on := false;
    LOOP
      first_id := NULL;
      begun_places := '{}';
      latest_in_hand := NULL;
      -- What somebody has begun comes first: any number of jobs before it may have been accepted at the same moment, or moved
      -- by a person, and committed after it was taken. One by one: for several places at once all that waits may be read.
      FOR its_place IN SELECT unnest(l.begun) FROM lanes.lease l WHERE l.lane = asked.lane ORDER BY 1 LOOP
        SELECT j.queue_id INTO its_id FROM lanes.job j
          WHERE j.lane = asked.lane AND j.place = its_place AND j.ended_at IS NULL;
        CONTINUE WHEN NOT FOUND;
        begun_places := begun_places || its_place;
        IF its_id = ANY (asked.beside) THEN
          latest_in_hand := its_place;
        ELSIF first_id IS NULL THEN
          first_id := its_id;
          first_place := its_place;
        END IF;
      END LOOP;
      IF first_id IS NULL THEN
        SELECT j.queue_id, j.place INTO first_id, first_place FROM lanes.job j
          WHERE j.lane = asked.lane AND j.ended_at IS NULL AND j.queue_id <> ALL (asked.beside) ORDER BY j.place LIMIT 1;
        EXIT WHEN NOT FOUND;
        begun_places := begun_places || first_place;
      END IF;
      -- It waits until nothing is in hand that it would overtake should the process die.
      EXIT WHEN first_place < latest_in_hand;
      -- Holds the lease where it is until the job is taken.
      UPDATE lanes.lease l SET turn = asked.number, begun = begun_places
        WHERE l.lane = asked.lane AND l.term = asked.term AND l.until > clock_timestamp() AND (l.turn < asked.number OR looked_on);
      EXIT WHEN NOT FOUND;
      looked_on := true;
      UPDATE lanes.job j SET deliveries = j.deliveries + 1, term = asked.term, note_order = 0
        WHERE j.queue_id = first_id AND j.lane = asked.lane AND coalesce(j.ended_at, 'infinity') = 'infinity'
        RETURNING 'job', asked.at, j.queue_id, j.deliveries, j.payload, j.note
        INTO what, at, id, delivery, its_payload, its_note;
      -- It was taken out in between: the one behind it is the first.
      CONTINUE WHEN NOT FOUND;
      its_template := NULL;
      IF its_payload IS NULL THEN
        what := 'row';
        SELECT q.payload, q.template, q.under_way INTO its_payload, its_template, under_way FROM platen.queued_job(first_id) q;
        -- That it ended was lost in a crash, or said elsewhere: nothing more of it is printed.
        IF under_way IS NOT TRUE THEN
          UPDATE lanes.job j SET ended_at = now() WHERE j.queue_id = first_id AND j.lane = asked.lane;
          CONTINUE;
        END IF;
      END IF;
      RETURN NEXT;
      EXIT;
    END LOOP;
  END LOOP;
END $$;

-- Stores notes with jobs that are still in these hands, and says which of them by their numbers. One after the other: a
-- join is planned while the tables are small, or empty, and then reads all that waits for every note.
CREATE FUNCTION lanes.note(notes json) RETURNS SETOF integer
LANGUAGE plpgsql AS $$
DECLARE
  n record;
BEGIN
  FOR n IN SELECT * FROM json_to_recordset(notes)
    AS r(at integer, lane text, id text, delivery integer, term text, "order" integer, note text)
  LOOP
    UPDATE lanes.job j SET note = n.note, note_order = n."order"
      WHERE j.queue_id = n.id AND j.lane = n.lane AND j.deliveries = n.delivery AND j.term = n.term
        AND coalesce(j.ended_at, 'infinity') = 'infinity' AND j.note_order < n."order"
        AND EXISTS (SELECT FROM lanes.lease l WHERE l.lane = n.lane AND l.term = n.term AND l.until > clock_timestamp());
    IF FOUND THEN RETURN NEXT n.at; END IF;
  END LOOP;
END $$;

-- The oldest reports of agents that no other service has in hand, whose locks this transaction holds then.
CREATE FUNCTION lanes.take_reports(lock_class integer, looked_at integer, most integer, in_hand text)
  RETURNS TABLE (report_id text, of_agent text, report text, age_ms float8)
LANGUAGE plpgsql AS $$
BEGIN
  -- The rows are deleted when they have been applied: a deletion that is lost in a crash means that they are applied again.
  PERFORM set_config('synchronous_commit', 'off', true), set_config('idle_in_transaction_session_timeout', in_hand, true);
  RETURN QUERY
    WITH oldest AS MATERIALIZED (SELECT r.id, r.name FROM lanes.report r ORDER BY r.id LIMIT looked_at),
      mine AS MATERIALIZED (SELECT names.name FROM (SELECT DISTINCT oldest.name FROM oldest) AS names
        WHERE pg_try_advisory_xact_lock(lock_class, hashtext(names.name)))
    SELECT r.id::text, r.name, r.json, extract(epoch FROM now() - r.published_at)::float8 * 1000
    FROM lanes.report r JOIN oldest USING (id) JOIN mine ON mine.name = r.name
    ORDER BY r.id LIMIT most FOR UPDATE OF r;
END $$;

CREATE FUNCTION lanes.drop_reports(ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM lanes.report r WHERE r.id = ANY (ids);
END $$;

-- Takes a job out that waits or, with `abandoned`, that one has in hand whose lease is over.
CREATE FUNCTION lanes.take_out(of_lane text, id text, abandoned boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  found_job lanes.job;
BEGIN
  SELECT * INTO found_job FROM lanes.job j WHERE j.queue_id = id AND j.lane = of_lane AND coalesce(j.ended_at, 'infinity') = 'infinity';
  IF NOT FOUND OR (found_job.term IS NOT NULL AND (NOT abandoned OR EXISTS (SELECT FROM lanes.lease l
      WHERE l.lane = of_lane AND l.term = found_job.term AND l.until > clock_timestamp()))) THEN
    RETURN false;
  END IF;
  -- One that is taken meanwhile has one more delivery.
  DELETE FROM lanes.job j WHERE j.queue_id = id AND j.lane = of_lane AND coalesce(j.ended_at, 'infinity') = 'infinity'
    AND j.deliveries = found_job.deliveries AND j.term IS NOT DISTINCT FROM found_job.term;
  RETURN FOUND;
END $$;

-- Forgets the jobs with these names, and all of the scope's lanes.
CREATE FUNCTION lanes.forget(ids text[], of_scope text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM lanes.job j WHERE j.queue_id = ANY (ids);
  DELETE FROM lanes.job j WHERE starts_with(j.lane, of_scope || '/');
  DELETE FROM lanes.lease l WHERE starts_with(l.lane, of_scope || '/');
END $$;

-- Whether the lane has this job, or has had it until lately: one that ended longer ago than this counts as unknown.
CREATE FUNCTION lanes.knows(of_lane text, id text, ended_within interval) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM lanes.job j WHERE j.lane = of_lane AND j.queue_id = id
    AND coalesce(j.ended_at, 'infinity') > now() - ended_within)
$$;
