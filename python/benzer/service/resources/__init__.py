"""The resources of the service: one file each, with its routes and the models of their bodies and responses."""
