package griddb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/series"
)

const kindContainer = "container"

// identity is a value that the server never assigns to two containers.
func identity(c *client.Container) string { return fmt.Sprintf("%d/%d", c.Partition, c.ID) }

// Objects implements driver.DB. Containers of series go with the registry that names
// them.
func (d *database) Objects(ctx context.Context) (objects []driver.Object, err error) {
	err = d.withSession(ctx, func(s *client.Session) error {
		objects = nil
		names, err := s.ContainerNames(ctx)
		if err != nil {
			return err
		}
		slices.Sort(names)
		there, err := s.Containers(ctx, names...)
		if err != nil {
			return err
		}
		there = slices.DeleteFunc(there, func(c *client.Container) bool { return c == nil }) // was dropped meanwhile
		of, err := registeredContainers(ctx, s, there)
		if err != nil {
			return err
		}
		for _, c := range there {
			objects = append(objects, driver.Object{
				Kind: kindContainer, Name: c.Name, Key: strings.ToLower(c.Name), Identity: identity(c), Data: true,
				Note: c.Name == noteContainer, Of: of[c],
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the objects in %s: %w", d.place(), err)
	}
	return objects, nil
}

// registeredContainers returns of containers which registry names them.
func registeredContainers(ctx context.Context, s *client.Session, there []*client.Container) (map[*client.Container]string, error) {
	byName := make(map[string]*client.Container, len(there))
	for _, c := range there {
		byName[c.Name] = c
	}
	of := map[*client.Container]string{}
	for _, c := range there {
		if !strings.HasSuffix(c.Name, registrySuffix) || !isRegistry(c) {
			continue
		}
		err := readRegistry(ctx, s, c, func(r registered) error {
			if at := byName[r.container]; at != nil && ours(r, at) && at.Type == client.TimeSeries {
				of[at] = c.Name
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading registry %s: %w", c.Name, err)
		}
	}
	return of, nil
}

// ours reports whether a container is the one in a registry, and not another one that was created later
// under its name. The number of a container is unknown while it is being created.
func ours(r registered, c *client.Container) bool { return r.id < 0 || r.id == c.ID }

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	if err := check(d.options, schema); err != nil {
		return nil, err
	}
	var objects []driver.Object
	for _, c := range d.layout.containers(schema) {
		objects = append(objects, driver.Object{Kind: kindContainer, Name: c.Name, Key: strings.ToLower(c.Name)})
	}
	return objects, nil
}

// containers returns the containers that Create creates: the registry of each table, and in the layout
// table the container of its rows.
func (l *layout) containers(schema *series.Schema) (all []client.Container) {
	for _, t := range schema.Tables {
		all = append(all, l.registry(t))
		if l.table {
			all = append(all, l.rows(t, clean(t.Name)))
		}
	}
	return all
}

// Create implements driver.DB. It drops the containers created before one that failed.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	planned, err := d.Plan(schema)
	if err != nil {
		return err
	}
	made := d.layout.containers(schema)
	err = d.withSession(ctx, func(s *client.Session) error {
		there, err := s.Containers(ctx, names(made)...)
		if err != nil {
			return err
		}
		for _, c := range there {
			if c != nil {
				return fmt.Errorf("container %s %w", c.Name, driver.ErrExisting)
			}
		}
		p := s.Pipeline()
		for i := range made {
			p.Create(&made[i])
		}
		err = p.Run(ctx, func(_ int, a *client.Answer) error { return a.Err })
		if err != nil {
			longer, cancel := limit.Outlive(ctx)
			defer cancel()
			_ = d.Drop(longer, planned) // the caller returns the earlier error
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("creating containers in %s: %w", d.place(), err)
	}
	d.keep(schema, made)
	d.made.Store(time.Now().UnixNano())
	return nil
}

// Join implements driver.DB: it looks up the containers that Create created. Each process creates the
// containers of the series that it writes.
func (d *database) Join(ctx context.Context, schema *series.Schema) error {
	made := d.layout.containers(schema)
	err := d.withSession(ctx, func(s *client.Session) error {
		there, err := s.Containers(ctx, names(made)...)
		if err != nil {
			return err
		}
		for i, c := range there {
			if c == nil {
				return fmt.Errorf("there is no container %s", made[i].Name)
			}
			made[i].Partition, made[i].ID, made[i].Version = c.Partition, c.ID, c.Version
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("joining a load into %s: %w", d.place(), err)
	}
	d.keep(schema, made)
	d.made.Store(time.Now().UnixNano()) // at the latest
	return nil
}

func names(containers []client.Container) (all []string) {
	for i := range containers {
		all = append(all, containers[i].Name)
	}
	return all
}

// keep keeps what writers need to know.
func (d *database) keep(schema *series.Schema, made []client.Container) {
	registries := map[*series.Table]*registry{}
	for _, t := range schema.Tables {
		container := made[0]
		made = made[1:]
		rows := d.layout.rows(t, "")
		if d.layout.table {
			rows, made = made[0], made[1:]
		}
		registries[t] = newRegistry(d.layout, t, schema.Series, container, rows)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.registries = registries
}

// dropAtOnce is how many containers are dropped between two looks at the registry.
const dropAtOnce = 2000

// Drop implements driver.DB. With a registry go the containers that it names, before it.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	err := d.withSession(ctx, func(s *client.Session) error {
		var all []string
		for _, o := range objects {
			if o.Of == "" {
				all = append(all, o.Name)
			}
		}
		there, err := s.Containers(ctx, all...)
		if err != nil {
			return err
		}
		for _, c := range there {
			if c == nil || !strings.HasSuffix(c.Name, registrySuffix) || !isRegistry(c) {
				continue
			}
			if err := dropRegistered(ctx, s, c); err != nil {
				return fmt.Errorf("dropping the containers that %s names: %w", c.Name, err)
			}
		}
		return drop(ctx, s, all)
	})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.place(), err)
	}
	return nil
}

// dropRegistered drops the containers that a registry names.
func dropRegistered(ctx context.Context, s *client.Session, c *client.Container) error {
	var all []registered
	err := readRegistry(ctx, s, c, func(r registered) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		return err
	}
	for len(all) > 0 {
		part := all[:min(dropAtOnce, len(all))]
		all = all[len(part):]
		var list []string
		for _, r := range part {
			list = append(list, r.container)
		}
		there, err := s.Containers(ctx, list...)
		if err != nil {
			return err
		}
		list = list[:0]
		for i, at := range there {
			if at != nil && ours(part[i], at) && at.Type == client.TimeSeries {
				list = append(list, at.Name)
			}
		}
		if err := drop(ctx, s, list); err != nil {
			return err
		}
	}
	return nil
}

// drop drops containers.
func drop(ctx context.Context, s *client.Session, all []string) error {
	p := s.Pipeline()
	for _, name := range all {
		p.Drop(name)
	}
	return p.Run(ctx, func(_ int, a *client.Answer) error { return a.Err })
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (text string, err error) {
	err = d.withSession(ctx, func(s *client.Session) error {
		there, err := s.Containers(ctx, noteContainer)
		if err != nil {
			return err
		}
		want := note()
		if c := there[0]; c == nil || len(c.Columns) != len(want.Columns) || c.Columns[0].Type != want.Columns[0].Type || c.Columns[1].Type != want.Columns[1].Type {
			return errors.New("its container is not as tsmark makes it")
		}
		rows := 0
		p := s.Pipeline()
		p.Query(there[0], "SELECT *", 10)
		err = p.Run(ctx, func(_ int, a *client.Answer) error {
			if a.Err != nil || a.Rows == nil {
				return a.Err
			}
			for a.Rows.Next() {
				rows++
				text = string(a.Rows.Text(1))
			}
			return a.Rows.Err()
		})
		if err == nil && rows > 1 {
			err = errors.New("its container has more than one row")
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading the note of %s: %w", d.place(), err)
	}
	return text, nil
}

// SetNote implements driver.DB: the row replaces the existing one.
func (d *database) SetNote(ctx context.Context, text string) error {
	err := d.withSession(ctx, func(s *client.Session) error {
		c, err := s.PutContainer(ctx, note())
		if err != nil {
			return err
		}
		p := s.Pipeline()
		p.Put(&c, []any{int64(0), text})
		return p.Run(ctx, func(_ int, a *client.Answer) error { return a.Err })
	})
	if err != nil {
		return fmt.Errorf("writing the note of %s: %w", d.place(), err)
	}
	d.made.Store(time.Now().UnixNano())
	return nil
}
