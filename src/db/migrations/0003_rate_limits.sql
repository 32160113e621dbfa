-- Up Migration

-- What each API key has used of its requests a minute, over all API processes. The columns, their names and order are
-- rate-limiter-flexible's. Unlogged: a minute's counts are not worth the write-ahead log. With room on the page a
-- count is updated in place.
create unlogged table rate_limits (
  key text primary key, -- api_keys.id
  points integer not null,
  expire bigint not null -- Unix time in milliseconds at which the minute ends
) with (fillfactor = 50);

-- Down Migration

drop table rate_limits;
