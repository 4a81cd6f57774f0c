package projection

// schema makes one generation; ~ stands for its prefix. Times are Unix
// milliseconds, 0 for none.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS ~meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID`,

	// Who is who. state is a roster.Agent; the other columns are for finding it.
	// pid is the process of its life, began the record that began it.
	`CREATE TABLE IF NOT EXISTS ~agent (
		id TEXT PRIMARY KEY, key TEXT NOT NULL, seat TEXT NOT NULL, kind TEXT NOT NULL, project TEXT NOT NULL,
		pid INTEGER NOT NULL, began INTEGER NOT NULL, retired INTEGER NOT NULL, created INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~agent_project ON ~agent (project, retired)`,
	`CREATE INDEX IF NOT EXISTS ~agent_seat ON ~agent (seat, created) WHERE retired = 0`,
	`CREATE INDEX IF NOT EXISTS ~agent_pid ON ~agent (pid) WHERE pid > 0`,
	`CREATE TABLE IF NOT EXISTS ~name (key TEXT PRIMARY KEY, agent TEXT NOT NULL, forward INTEGER NOT NULL) WITHOUT ROWID`,
	// earlier are the conversations that it goes on from, as a JSON array.
	`CREATE TABLE IF NOT EXISTS ~conversation (key TEXT PRIMARY KEY, agent TEXT NOT NULL, earlier TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~conversation_agent ON ~conversation (agent)`,

	`CREATE TABLE IF NOT EXISTS ~token (id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID`,

	`CREATE TABLE IF NOT EXISTS ~project (id TEXT PRIMARY KEY, name TEXT NOT NULL, root TEXT NOT NULL, mark TEXT NOT NULL) WITHOUT ROWID`,

	// Conversations. state is a mail.Thread, all that a decision reads.
	`CREATE TABLE IF NOT EXISTS ~thread (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, owner TEXT NOT NULL, status TEXT NOT NULL,
		created INTEGER NOT NULL, updated INTEGER NOT NULL, messages INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~thread_version ON ~thread (version)`,
	`CREATE TABLE IF NOT EXISTS ~member (agent TEXT NOT NULL, thread TEXT NOT NULL, PRIMARY KEY (agent, thread)) WITHOUT ROWID`,

	// Messages, without their bodies: those stay in the journal at (seq, part).
	`CREATE TABLE IF NOT EXISTS ~message (
		n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, part INTEGER NOT NULL,
		thread TEXT NOT NULL, sender TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, preview TEXT NOT NULL,
		size INTEGER NOT NULL, importance INTEGER NOT NULL, reply_to TEXT NOT NULL, answers TEXT NOT NULL,
		sent INTEGER NOT NULL, expires INTEGER NOT NULL, ack INTEGER NOT NULL, nowake INTEGER NOT NULL,
		grp TEXT NOT NULL, files TEXT NOT NULL, project TEXT NOT NULL)`,
	`CREATE INDEX IF NOT EXISTS ~message_thread ON ~message (thread, n)`,
	`CREATE UNIQUE INDEX IF NOT EXISTS ~message_place ON ~message (seq, part)`,
	`CREATE INDEX IF NOT EXISTS ~message_sender ON ~message (sender, n)`,

	// One state for each message and recipient. pending is mail.Pending, as long
	// as the message has not run out and its recipient is not retired. seq is
	// where the recipient got it: the message's own place, unless it was passed
	// on; via is then who had it before, or who has it now.
	`CREATE TABLE IF NOT EXISTS ~receipt (
		agent TEXT NOT NULL, n INTEGER NOT NULL, importance INTEGER NOT NULL, state TEXT NOT NULL,
		reason TEXT NOT NULL, at INTEGER NOT NULL, pending INTEGER NOT NULL, expires INTEGER NOT NULL,
		seq INTEGER NOT NULL, via TEXT NOT NULL, PRIMARY KEY (agent, n)) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~receipt_all ON ~receipt (agent, importance, n)`,
	`CREATE INDEX IF NOT EXISTS ~receipt_pending ON ~receipt (agent, importance, n) WHERE pending = 1`,
	`CREATE INDEX IF NOT EXISTS ~receipt_expiring ON ~receipt (agent, expires) WHERE pending = 1 AND expires > 0`,
	`CREATE INDEX IF NOT EXISTS ~receipt_message ON ~receipt (n)`,
	`CREATE TABLE IF NOT EXISTS ~mailbox (agent TEXT PRIMARY KEY, total INTEGER NOT NULL, pending INTEGER NOT NULL) WITHOUT ROWID`,
	`CREATE TRIGGER IF NOT EXISTS ~receipt_insert AFTER INSERT ON ~receipt BEGIN
		INSERT INTO ~mailbox (agent, total, pending) VALUES (new.agent, 1, new.pending)
		ON CONFLICT (agent) DO UPDATE SET total = total + 1, pending = pending + new.pending; END`,
	`CREATE TRIGGER IF NOT EXISTS ~receipt_update AFTER UPDATE OF pending ON ~receipt WHEN old.pending <> new.pending BEGIN
		UPDATE ~mailbox SET pending = pending + new.pending - old.pending WHERE agent = new.agent; END`,

	// Questions, one row for each of those asked. status: open, answered, ended,
	// or passed, to the agent that reason names.
	`CREATE TABLE IF NOT EXISTS ~question (
		id TEXT NOT NULL, asked TEXT NOT NULL, asker TEXT NOT NULL, answer_to TEXT NOT NULL, thread TEXT NOT NULL, n INTEGER NOT NULL,
		status TEXT NOT NULL, reason TEXT NOT NULL, answer TEXT NOT NULL, at INTEGER NOT NULL, expires INTEGER NOT NULL,
		print TEXT NOT NULL, PRIMARY KEY (id, asked)) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~question_asked ON ~question (asked, status)`,
	`CREATE INDEX IF NOT EXISTS ~question_asker ON ~question (asker, status)`,
	`CREATE INDEX IF NOT EXISTS ~question_open ON ~question (n) WHERE status = 'open'`,

	// Messages to groups that reach agents who come later.
	`CREATE TABLE IF NOT EXISTS ~broadcast (
		id TEXT PRIMARY KEY, audience TEXT NOT NULL, sender TEXT NOT NULL, expires INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~broadcast_audience ON ~broadcast (audience, expires)`,

	`CREATE TABLE IF NOT EXISTS ~board (
		scope TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL,
		version INTEGER NOT NULL, PRIMARY KEY (scope, key)) WITHOUT ROWID`,
	`CREATE TABLE IF NOT EXISTS ~board_log (
		scope TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, value TEXT, author TEXT NOT NULL, at INTEGER NOT NULL,
		PRIMARY KEY (scope, key, version)) WITHOUT ROWID`,

	// Claims that stand. state is a claim.Claim; items are what they cover, for
	// finding those that may overlap: the leading folders of a path, or a thing.
	`CREATE TABLE IF NOT EXISTS ~claim (
		id TEXT PRIMARY KEY, scope TEXT NOT NULL, holder TEXT NOT NULL, token INTEGER NOT NULL, parked INTEGER NOT NULL,
		auto INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~claim_holder ON ~claim (holder, scope)`,
	`CREATE INDEX IF NOT EXISTS ~claim_scope ON ~claim (scope, auto, token)`,
	`CREATE INDEX IF NOT EXISTS ~claim_parked ON ~claim (scope, parked) WHERE parked > 0`,
	`CREATE TABLE IF NOT EXISTS ~claim_item (
		scope TEXT NOT NULL, kind TEXT NOT NULL, prefix TEXT NOT NULL, claim TEXT NOT NULL, PRIMARY KEY (scope, kind, prefix, claim)) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~claim_items ON ~claim_item (claim)`,
	`CREATE TABLE IF NOT EXISTS ~claim_done (
		id TEXT PRIMARY KEY, scope TEXT NOT NULL, holder TEXT NOT NULL, at INTEGER NOT NULL, lost INTEGER NOT NULL, auto INTEGER NOT NULL,
		state TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~claim_done_at ON ~claim_done (scope, at) WHERE auto = 0`,
	`CREATE INDEX IF NOT EXISTS ~claim_lost ON ~claim_done (holder) WHERE lost = 1`,
	`CREATE TABLE IF NOT EXISTS ~claim_wait (
		id TEXT PRIMARY KEY, scope TEXT NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~claim_wait_scope ON ~claim_wait (scope, seq)`,
	`CREATE TABLE IF NOT EXISTS ~claim_rules (scope TEXT PRIMARY KEY, rules TEXT NOT NULL) WITHOUT ROWID`,

	// Rooms. state is a room.Room, all that a decision reads. pub and posts count
	// what everybody may see, turn and began are the records that gave the
	// floor last and that opened the room.
	`CREATE TABLE IF NOT EXISTS ~room (
		id TEXT PRIMARY KEY, key TEXT NOT NULL, status TEXT NOT NULL, version INTEGER NOT NULL, pub INTEGER NOT NULL,
		posts INTEGER NOT NULL, turn INTEGER NOT NULL, began INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~room_key ON ~room (key, status, version)`,
	`CREATE INDEX IF NOT EXISTS ~room_status ON ~room (status, version)`,
	`CREATE TABLE IF NOT EXISTS ~room_member (agent TEXT NOT NULL, room TEXT NOT NULL, handle TEXT NOT NULL, PRIMARY KEY (agent, room, handle)) WITHOUT ROWID`,

	// Their entries; the texts stay in the journal at (pos, part). actor is the
	// key of who did it, mine the number among those of the same one, pub the
	// number among those that everybody may see.
	`CREATE TABLE IF NOT EXISTS ~room_entry (
		room TEXT NOT NULL, seq INTEGER NOT NULL, pos INTEGER NOT NULL, part INTEGER NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL,
		private INTEGER NOT NULL, pub INTEGER NOT NULL, mine INTEGER NOT NULL, PRIMARY KEY (room, seq)) WITHOUT ROWID`,
	`CREATE INDEX IF NOT EXISTS ~room_entry_public ON ~room_entry (room, seq) WHERE private = 0`,
	`CREATE INDEX IF NOT EXISTS ~room_entry_actor ON ~room_entry (room, actor, seq)`,
	`CREATE INDEX IF NOT EXISTS ~room_entry_pub ON ~room_entry (room, pub) WHERE private = 0`,
	`CREATE INDEX IF NOT EXISTS ~room_entry_proposed ON ~room_entry (room, seq) WHERE kind = 'room.proposed'`,
	`CREATE INDEX IF NOT EXISTS ~room_entry_place ON ~room_entry (pos, part)`,
	// The whispers that somebody is party to, counted, and whose waiting an
	// entry ends ('*': everybody's).
	`CREATE TABLE IF NOT EXISTS ~room_party (
		room TEXT NOT NULL, handle TEXT NOT NULL, seq INTEGER NOT NULL, nth INTEGER NOT NULL, PRIMARY KEY (room, handle, seq)) WITHOUT ROWID`,
	`CREATE TABLE IF NOT EXISTS ~room_wake (
		room TEXT NOT NULL, handle TEXT NOT NULL, seq INTEGER NOT NULL, actor TEXT NOT NULL, PRIMARY KEY (room, handle, seq)) WITHOUT ROWID`,
	`CREATE TABLE IF NOT EXISTS ~room_cursor (
		room TEXT NOT NULL, agent TEXT NOT NULL, handle TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (room, agent, handle)) WITHOUT ROWID`,

	// Subjects that hold a kind of event which this generation does not know.
	`CREATE TABLE IF NOT EXISTS ~unknown (subject TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID`,

	// Ids spelled backwards, so that the end of an id, which tells ids of one
	// second apart, finds it through an index.
	`CREATE TABLE IF NOT EXISTS ~ident (rid TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID`,
}
