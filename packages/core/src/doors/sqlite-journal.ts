// The public entry point of @lastcall/core/sqlite-journal.
export { type JournalThread, type SqliteJournal, sqliteJournal } from '../node/sqlite-journal.ts';
