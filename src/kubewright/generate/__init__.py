"""Models out of OpenAPI v3 documents and CustomResourceDefinitions."""

__all__ = ["Change", "Documents", "Fetch", "GenerateError", "generate", "generate_models", "load_documents", "write"]

from .definitions import GenerateError
from .modules import Change, generate, generate_models, write
from .sources import Documents, Fetch, load_documents
