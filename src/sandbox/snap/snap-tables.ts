/** What the simulated acquirer knows of its merchants. An external id is a call that passed all checks before it. */
export const SNAP_TABLES = `
  create table if not exists snap_keys (
    profile         text primary key,
    private_key_pem text not null
  );
  create table if not exists snap_merchants (
    client_id        text primary key,
    profile          text not null references snap_keys,
    client_secret    text not null,
    partner_id       text not null unique,
    channel_id       text not null,
    public_key_pem   text not null,
    -- signs the notifications of Iris
    merchant_key     text not null,
    notification_url text,
    registered_at    timestamptz not null default now()
  );
  create table if not exists snap_tokens (
    token      text primary key,
    client_id  text not null references snap_merchants,
    expires_at timestamptz not null
  );
  create table if not exists snap_external_ids (
    client_id   text not null references snap_merchants,
    -- in WIB
    day         date not null,
    external_id text not null,
    service     text not null,
    -- the form of the body that the client signed: raw or compact
    signed_form text not null,
    called_at   timestamptz not null default clock_timestamp(),
    primary key (client_id, day, external_id)
  );
`;
