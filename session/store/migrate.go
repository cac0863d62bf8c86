package store

import (
	"context"
	"embed"
	"fmt"
	"path"
	"strconv"
)

// The steps that lead from an empty database to this one, by their number. A
// step that was released never changes; what is new is a new step.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks the file as ours in its header ("acpa").
const applicationID = 0x61637061

// migrate brings the database to the newest version, each step in a transaction
// of its own.
func (s *Store) migrate(ctx context.Context) error {
	steps, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	version, err := s.known(ctx)
	if err != nil {
		return err
	}
	// Only now, since it is kept in the file: a refused one stays as it is.
	if _, err := s.conn.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return err
	}
	for ; version < len(steps); version++ {
		text, err := migrations.ReadFile(path.Join("migrations", steps[version].Name()))
		if err != nil {
			return err
		}
		if err := s.step(ctx, version, string(text)); err != nil {
			return fmt.Errorf("bringing it from version %d to %d: %w", version, version+1, err)
		}
	}
	return nil
}

// known is version for a database that this program can use.
func (s *Store) known(ctx context.Context) (int, error) {
	steps, err := migrations.ReadDir("migrations")
	if err != nil {
		return 0, err
	}
	version, err := s.version(ctx)
	if err == nil && version > len(steps) {
		err = fmt.Errorf("%w (version %d, this program knows up to %d): update acp-agent, or set XDG_DATA_HOME to another folder", ErrNewer, version, len(steps))
	}
	return version, err
}

// step makes the step that follows the given version, unless another process
// did meanwhile.
func (s *Store) step(ctx context.Context, from int, text string) error {
	return s.transact(ctx, func(ctx context.Context) error {
		version, err := s.version(ctx)
		if err != nil || version > from {
			return err
		}
		_, err = s.conn.ExecContext(ctx, text+`;
			PRAGMA application_id = `+strconv.Itoa(applicationID)+`;
			PRAGMA user_version = `+strconv.Itoa(from+1))
		return err
	})
}

// version returns how many steps the database has behind it.
func (s *Store) version(ctx context.Context) (int, error) {
	var application, version, tables int
	err := s.conn.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id a, pragma_user_version v`).Scan(&application, &version, &tables)
	if err != nil {
		return 0, err
	}
	if application != applicationID && (application != 0 || version != 0 || tables != 0) {
		return 0, fmt.Errorf("%w: move it away, or set XDG_DATA_HOME to another folder", ErrForeign)
	}
	return version, nil
}
