package acp

import "reflect"

// ContentBlock is a piece of a message: TextContent, ImageContent, AudioContent,
// ResourceLink, EmbeddedResource or UnknownContentBlock.
type ContentBlock interface{ contentBlock() }

// TextContent is text, Markdown where the agent wrote it.
type TextContent struct {
	Tag         tag[TextContent] `json:"type"`
	Text        string           `json:"text" acp:"required"`
	Annotations *Annotations     `json:"annotations,omitzero"`
	Meta        Meta             `json:"_meta,omitzero"`
}

// ImageContent is a picture.
type ImageContent struct {
	Tag         tag[ImageContent] `json:"type"`
	Data        string            `json:"data" acp:"required"` // base64
	MimeType    string            `json:"mimeType" acp:"required"`
	URI         string            `json:"uri,omitzero"`
	Annotations *Annotations      `json:"annotations,omitzero"`
	Meta        Meta              `json:"_meta,omitzero"`
}

// AudioContent is sound.
type AudioContent struct {
	Tag         tag[AudioContent] `json:"type"`
	Data        string            `json:"data" acp:"required"` // base64
	MimeType    string            `json:"mimeType" acp:"required"`
	Annotations *Annotations      `json:"annotations,omitzero"`
	Meta        Meta              `json:"_meta,omitzero"`
}

// ResourceLink names a resource that the agent can read by itself.
type ResourceLink struct {
	Tag         tag[ResourceLink] `json:"type"`
	URI         string            `json:"uri" acp:"required"`
	Name        string            `json:"name" acp:"required"`
	Title       string            `json:"title,omitzero"`
	Description string            `json:"description,omitzero"`
	MimeType    string            `json:"mimeType,omitzero"`
	Size        *int64            `json:"size,omitzero"` // bytes
	Annotations *Annotations      `json:"annotations,omitzero"`
	Meta        Meta              `json:"_meta,omitzero"`
}

// EmbeddedResource is a resource with its content.
type EmbeddedResource struct {
	Tag         tag[EmbeddedResource]    `json:"type"`
	Resource    EmbeddedResourceResource `json:"resource" acp:"required"` // not nil
	Annotations *Annotations             `json:"annotations,omitzero"`
	Meta        Meta                     `json:"_meta,omitzero"`
}

// UnknownContentBlock has a type that this version does not know.
type UnknownContentBlock struct{ Unknown }

func (TextContent) contentBlock()         {}
func (ImageContent) contentBlock()        {}
func (AudioContent) contentBlock()        {}
func (ResourceLink) contentBlock()        {}
func (EmbeddedResource) contentBlock()    {}
func (UnknownContentBlock) contentBlock() {}

func (TextContent) tag() string      { return "text" }
func (ImageContent) tag() string     { return "image" }
func (AudioContent) tag() string     { return "audio" }
func (ResourceLink) tag() string     { return "resource_link" }
func (EmbeddedResource) tag() string { return "resource" }

func contentBlockUnion() *union {
	return taggedUnion[ContentBlock]("type", UnknownContentBlock{},
		TextContent{}, ImageContent{}, AudioContent{}, ResourceLink{}, EmbeddedResource{})
}

// EmbeddedResourceResource is the content of a resource: TextResourceContents or
// BlobResourceContents, told apart by which of text and blob is there.
type EmbeddedResourceResource interface{ resourceContents() }

// TextResourceContents is a resource of text.
type TextResourceContents struct {
	URI      string `json:"uri" acp:"required"`
	Text     string `json:"text" acp:"required"`
	MimeType string `json:"mimeType,omitzero"`
	Meta     Meta   `json:"_meta,omitzero"`
}

// BlobResourceContents is a resource of bytes.
type BlobResourceContents struct {
	URI      string `json:"uri" acp:"required"`
	Blob     string `json:"blob" acp:"required"` // base64
	MimeType string `json:"mimeType,omitzero"`
	Meta     Meta   `json:"_meta,omitzero"`
}

func (TextResourceContents) resourceContents() {}
func (BlobResourceContents) resourceContents() {}

func resourceUnion() *union {
	return &union{pick: func(c *cursor) (reflect.Type, *problem) {
		if !c.has("text") && c.has("blob") {
			return reflect.TypeFor[BlobResourceContents](), nil
		}
		return reflect.TypeFor[TextResourceContents](), nil
	}}
}

// Annotations say for whom content is and how much it matters.
type Annotations struct {
	Audience     []Role   `json:"audience,omitzero"`
	LastModified string   `json:"lastModified,omitzero"` // ISO 8601
	Priority     *float64 `json:"priority,omitzero"`     // from 0 to 1
	Meta         Meta     `json:"_meta,omitzero"`
}

// Role is a party of the conversation.
type Role string

// The roles of the protocol.
const (
	RoleAssistant Role = "assistant"
	RoleUser      Role = "user"
)
