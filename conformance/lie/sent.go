package lie

import "context"

// sentKey marks the query that a request carried in its body.
type sentKey struct{}

func withQuery(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, sentKey{}, text)
}

func sentQuery(ctx context.Context) string {
	text, _ := ctx.Value(sentKey{}).(string)
	return text
}
